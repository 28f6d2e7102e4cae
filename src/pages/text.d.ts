/** Files that are embedded as text. */
declare module '*.css' {
  const text: string
  export default text
}
declare module '*.svg' {
  const text: string
  export default text
}
declare module '*/embed.js' {
  const text: string
  export default text
}
declare module '*/upload.js' {
  const text: string
  export default text
}
declare module '*/passkey.js' {
  const text: string
  export default text
}
declare module '*/site.js' {
  const text: string
  export default text
}

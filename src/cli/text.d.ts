declare module '*.txt' {
  const text: string
  export default text
}
declare module '*.sh' {
  const text: string
  export default text
}
declare module '*.yml' {
  const text: string
  export default text
}

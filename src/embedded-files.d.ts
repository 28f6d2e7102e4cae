// Files that are embedded in the program as text.
declare module '*.txt' {
  const text: string
  export default text
}
declare module '*.md' {
  const text: string
  export default text
}
declare module '*.sql' {
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
declare module '*/passkey.js' {
  const text: string
  export default text
}
declare module '*/site.js' {
  const text: string
  export default text
}
declare module '*/upload.js' {
  const text: string
  export default text
}

// Files that are embedded as they are; their import gives the path to read them from.
declare module 'swagger-ui-dist/swagger-ui-bundle.js' {
  const path: string
  export = path
}
declare module 'swagger-ui-dist/swagger-ui.css' {
  const path: string
  export = path
}
declare module 'swagger-ui-dist/oauth2-redirect.js' {
  const path: string
  export = path
}

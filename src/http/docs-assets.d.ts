/** Files that are embedded as they are; their import gives the path to read them from. */
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

/** Files that are embedded as text. */
declare module '*/common-passwords.txt' {
  const text: string
  export default text
}

/** A request of an app with the longest state and redirect URI, percent-encoded, is a little shorter. */
const maximumLength = 32_768

/**
 * Where to go after signing in: a path of this server with its query, else the start page. Whatever a browser could read as
 * another host (`//`, a backslash, a control character that it drops) is no such path.
 */
export const safeReturnTo = (text: string | null, publicUrl: string): string => {
  if (text === null || text.length > maximumLength || !/^\/(?!\/)[\x21-\x5b\x5d-\x7e]*$/.test(text)) return '/'
  const url = URL.parse(text, publicUrl)
  return url !== null && url.origin === publicUrl && !url.pathname.startsWith('//') ? url.pathname + url.search : '/'
}

/**
 * What `form-action` of the consent page has to allow beside this server: the origin that the decision leads to, since
 * Chromium holds redirects after a form to it as well. The syntax of the policy cannot name an IPv6 address; only for such
 * a redirect URI every HTTPS origin is allowed.
 */
export const formTargetOf = (redirectUri: string): string => {
  const { origin, hostname } = new URL(redirectUri)
  return hostname.startsWith('[') ? 'https:' : origin
}

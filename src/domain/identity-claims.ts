// What the claims of an identity provider mean here (OpenID Connect Core sections 2 and 5.1). All of them are text of somebody else.

/** How far the clocks of this server and of an identity provider may differ, in both directions. */
export const clockLeewaySeconds = 60
export const clockLeewayMs = clockLeewaySeconds * 1000

/** A time of a claim, which may have fractions of a second (NumericDate, RFC 7519 section 2), in whole epoch milliseconds. */
export const epochMs = (seconds: number): number => Math.floor(seconds * 1000)

/** An issuer as identities are kept: a slash at its end makes no difference. Null for a text that is no address of the web. */
export const issuerKey = (text: string): string | null => {
  const url = URL.parse(text)
  const isWeb = url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.hash === ''
  return isWeb ? url.href.replace(/\/$/, '') : null
}

const saysYes: ReadonlySet<unknown> = new Set([true, 'true'])
/** Of Entra ID: whether the domain of the address belongs to the tenant. */
const ownsDomain: ReadonlySet<unknown> = new Set([true, 'true', 1, '1'])

/**
 * Whether the provider says that the address belongs to the person. Some providers write text for a boolean. Whatever is not one of
 * the forms of yes is a no, and one no is enough. `trusts` decides for a provider that does not say anything.
 */
export const isEmailVerified = (
  { email_verified: verified, xms_edov: ownDomain }: Readonly<Record<string, unknown>>,
  trusts: boolean,
): boolean => {
  if (!saysWhetherVerified({ email_verified: verified, xms_edov: ownDomain })) return trusts
  return isYesOrSilent(verified, saysYes) && isYesOrSilent(ownDomain, ownsDomain)
}

export const saysWhetherVerified = ({
  email_verified: verified,
  xms_edov: ownDomain,
}: Readonly<Record<string, unknown>>): boolean => verified !== undefined || ownDomain !== undefined

const isYesOrSilent = (value: unknown, yes: ReadonlySet<unknown>): boolean =>
  value === undefined || yes.has(typeof value === 'string' ? value.toLowerCase() : value)

/** A text with something in it; null for anything else. */
export const textClaim = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : null

/** The name that the claims give the person; null if they give none. */
export const nameClaim = (claims: Readonly<Record<string, unknown>>): string | null => {
  const parts = [claims['given_name'], claims['family_name']].map(textClaim).filter((part) => part !== null)
  return textClaim(claims['name']) ?? (parts.length === 0 ? null : parts.join(' '))
}

/** The `error` of an answer if it can stand in a sentence and in the audit log (RFC 6749 section 4.1.2.1); otherwise `unknown`. */
export const errorCode = (value: unknown): string =>
  typeof value === 'string' && /^[A-Za-z0-9_.-]{1,60}$/.test(value) ? value : 'unknown'

/** What others wrote, for the log: visible characters only, and not more than fit into a line. */
export const foreignText = (value: unknown): string | null =>
  typeof value === 'string'
    ? value
        .replaceAll(/[\p{C}\p{Z}]+/gu, ' ')
        .slice(0, 200)
        .trim() || null
    : null

/** How long a link works with which a person sets a password or confirms an address. */
export const passwordLinkSeconds = 24 * 3600

/** The page that such a link opens. The secret is in the query. */
export const passwordLinkPath = '/set-password'

/** The page that a link to confirm an address opens. */
export const emailLinkPath = '/confirm-email'

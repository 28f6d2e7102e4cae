/** Why the scopes of an app cannot be registered, as sentences. */
export const scopeFaults = {
  invalid_scope: 'The scopes are empty or name one that does not exist.',
  scope_not_available: 'A scope is planned or restricted and cannot be registered yet.',
} as const

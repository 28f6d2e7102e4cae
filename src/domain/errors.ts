/**
 * Every refusal of the platform: one class, one list of codes, one status for each (contract section 1).
 * Messages are fixed sentences and never repeat a value that a caller sent.
 */
const errors = {
  invalid_json: [400, 'The body is not valid JSON in UTF-8.'],
  invalid_request: [400, 'The request is malformed.'],
  invalid_scope: [400, 'The scope is empty or names a scope that does not exist.'],
  invalid_redirect_uri: [400, 'The redirect URI is not registered for this client.'],
  invalid_target: [400, 'The resource parameter must name this API, as protected_resources of the metadata does.'],
  unsupported_grant_type: [400, 'The grant type must be authorization_code or refresh_token.'],
  unsupported_code_challenge_method: [400, 'The code challenge method must be S256.'],
  checksum_mismatch: [400, 'The artifact does not match the given SHA-256.'],
  api_version_missing: [400, 'The X-Service-Api-Version header is missing.'],
  api_version_unsupported: [400, 'The X-Service-Api-Version header names no supported version.'],
  invalid_client: [401, 'The client credentials are not valid.'],
  invalid_grant: [401, 'The code or refresh token is not valid for this request.'],
  invalid_token: [401, 'The bearer token is missing or not valid.'],
  login_required: [401, 'A signed-in user is required.'],
  invalid_login: [401, 'The email address or the password is wrong.'],
  second_factor_required: [401, 'The password is right, and a code of the second factor is needed: send it as `code`.'],
  consent_required: [403, 'The user must consent explicitly: consent must be true.'],
  scope_not_allowed: [403, 'The app may not ask for this scope.'],
  scope_not_available: [403, 'This scope is planned or restricted and cannot be issued.'],
  insufficient_scope: [403, 'The token lacks a scope that this call needs.'],
  token_type_not_allowed: [403, 'This kind of token cannot make this call.'],
  development_credentials_required: [403, 'This call needs a token of development credentials.'],
  install_required: [403, 'The user has no active install of this app: ask them to install it and await approval.'],
  activation_not_allowed: [403, 'A draft upload cannot submit, publish or activate a version.'],
  rollback_not_allowed: [403, 'Development secrets may not roll back production of this app: use the console.'],
  right_missing: [403, 'The service key, or the role of the person, lacks the right that this needs.'],
  operator_protected: [403, 'A service key cannot create, change, sign in or end an operator.'],
  app_inactive: [403, 'The app is suspended or was deleted.'],
  token_not_owned: [403, 'The token belongs to another app.'],
  origin_not_allowed: [403, 'A session cookie needs proof that the request comes from this origin.'],
  route_not_found: [404, 'There is no such route.'],
  version_not_found: [404, 'The app has no such version.'],
  grant_not_found: [404, 'The user has no such grant.'],
  install_not_found: [404, 'The app has no such install.'],
  record_not_found: [404, 'There is no such record.'],
  method_not_allowed: [405, 'This route does not support this method.'],
  version_locked: [409, 'The version was submitted and its content cannot change.'],
  version_not_eligible: [409, 'The status of the version does not allow this.'],
  version_already_current: [409, 'This version is already the current one.'],
  no_previous_version: [409, 'There is no earlier version to roll back to.'],
  idempotency_in_progress: [409, 'A request with this idempotency key is still running.'],
  too_many_secrets: [409, 'This environment already has two live secrets.'],
  email_taken: [409, 'Another user has this email address.'],
  slug_taken: [409, 'The owner has another website or store with this slug.'],
  owns_apps: [409, 'The user owns apps: transfer or delete them first.'],
  quota_exceeded: [409, 'The quota of the account or app is used up.'],
  api_version_retired: [410, 'This API version has been retired.'],
  payload_too_large: [413, 'The request body is too large.'],
  unsupported_media_type: [415, 'The body must be application/json.'],
  idempotency_key_reused: [422, 'This idempotency key was used with another body.'],
  rate_limited: [429, 'Too many requests.'],
  internal_error: [500, 'Something went wrong on our side.'],
  unavailable: [503, 'The service cannot take this request now.'],
} as const satisfies Record<string, readonly [status: number, message: string]>

export type ErrorCode = keyof typeof errors
type ErrorStatus = (typeof errors)[ErrorCode][0]

/** Whether the text is a code of the list. */
export const isErrorCode = (value: string): value is ErrorCode => Object.hasOwn(errors, value)
/** The list. */
export const errorCodes: readonly ErrorCode[] = Object.keys(errors).filter(isErrorCode)
/** The HTTP status of a code. */
export const statusOf = (code: ErrorCode): ErrorStatus => errors[code][0]
/** The default sentence of a code. */
export const messageOf = (code: ErrorCode): string => errors[code][1]

/** The field at fault (`param`), facts for programs (`details`), and when to retry (whole seconds). */
export type ErrorFacts = {
  readonly param?: string
  readonly details?: Readonly<Record<string, unknown>>
  readonly retryAfterSeconds?: number
  /** A more exact sentence than the default. Never built from a value of the request. */
  readonly message?: string
  /** The errors of further fields, for the page of the form. Answers to programs name only the first. */
  readonly also?: readonly PlatformError[]
  /** It repeats the refusal of an earlier request with the same idempotency key. */
  readonly replayed?: true
}

/** The only error that operations throw on purpose; every other one becomes an `internal_error`. */
export class PlatformError extends Error {
  readonly status: ErrorStatus

  constructor(
    readonly code: ErrorCode,
    readonly facts: ErrorFacts = {},
    options?: ErrorOptions,
  ) {
    super(facts.message ?? messageOf(code), options)
    this.name = 'PlatformError'
    this.status = statusOf(code)
  }
}

/**
 * What a refusal needs: `invalid_request` always says which rule was broken, because its default sentence helps nobody, and
 * `payload_too_large` what would not be.
 */
type NeededFacts<Code extends ErrorCode> = 'invalid_request' extends Code
  ? [facts: ErrorFacts & { readonly message: string }]
  : 'payload_too_large' extends Code
    ? [facts: ErrorFacts & { readonly details: { readonly maximumBytes: number } }]
    : [facts?: ErrorFacts]

/** Creates the error, as in `throw refuse('invalid_client')`. */
export const refuse = <Code extends ErrorCode>(code: Code, ...[facts]: NeededFacts<Code>): PlatformError =>
  new PlatformError(code, facts)

/** Of a body, or of the part of it that `param` names. */
export const tooLarge = (maximumBytes: number, param?: string): PlatformError =>
  refuse('payload_too_large', { details: { maximumBytes }, ...(param === undefined ? {} : { param }) })

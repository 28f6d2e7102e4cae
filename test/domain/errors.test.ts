import { expect, test } from 'bun:test'
import { type ErrorCode, isErrorCode, messageOf, statusOf } from '../../src/domain/errors.ts'

/** The status that the contract promises for each code; the type requires all of them. */
const promised: Readonly<Record<ErrorCode, number>> = {
  invalid_json: 400,
  invalid_request: 400,
  invalid_scope: 400,
  invalid_redirect_uri: 400,
  invalid_target: 400,
  unsupported_grant_type: 400,
  unsupported_code_challenge_method: 400,
  checksum_mismatch: 400,
  api_version_missing: 400,
  api_version_unsupported: 400,
  invalid_client: 401,
  invalid_grant: 401,
  invalid_token: 401,
  login_required: 401,
  invalid_login: 401,
  second_factor_required: 401,
  consent_required: 403,
  scope_not_allowed: 403,
  scope_not_available: 403,
  insufficient_scope: 403,
  token_type_not_allowed: 403,
  development_credentials_required: 403,
  install_required: 403,
  activation_not_allowed: 403,
  rollback_not_allowed: 403,
  right_missing: 403,
  operator_protected: 403,
  app_inactive: 403,
  token_not_owned: 403,
  origin_not_allowed: 403,
  route_not_found: 404,
  version_not_found: 404,
  grant_not_found: 404,
  install_not_found: 404,
  record_not_found: 404,
  method_not_allowed: 405,
  version_locked: 409,
  version_not_eligible: 409,
  version_already_current: 409,
  no_previous_version: 409,
  idempotency_in_progress: 409,
  too_many_secrets: 409,
  email_taken: 409,
  slug_taken: 409,
  owns_apps: 409,
  quota_exceeded: 409,
  api_version_retired: 410,
  payload_too_large: 413,
  unsupported_media_type: 415,
  idempotency_key_reused: 422,
  rate_limited: 429,
  internal_error: 500,
  unavailable: 503,
}
const codes = Object.keys(promised).filter(isErrorCode)

test('a refusal has the status that the contract promises for its code', () => {
  const told: Readonly<Record<string, number>> = Object.fromEntries(codes.map((code) => [code, statusOf(code)]))
  expect(told).toEqual(promised)
  expect(['', 'unknown', 'toString'].filter(isErrorCode)).toEqual([])
})

test('no two codes have the same message', () => {
  expect(new Set(codes.map(messageOf)).size).toBe(Object.keys(promised).length)
})

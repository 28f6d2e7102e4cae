import { verifier } from '../../support/world.ts'
import type { LoadMode } from '../../bench/load.ts'
import { appScope, type Contender, type Material } from './contender.ts'

/** In this order, because a refresh ends the platform's previous access token. */
export const workNames = ['token', 'introspect', 'who', 'exchange', 'refresh'] as const
export type WorkName = (typeof workNames)[number]

export const titles = {
  token: 'issue an app token',
  introspect: 'introspect an app token',
  who: 'who is this bearer?',
  exchange: 'exchange a code (PKCE)',
  refresh: 'refresh with rotation',
} as const satisfies Record<WorkName, string>

export const modes = {
  token: 'cycle',
  introspect: 'cycle',
  who: 'cycle',
  exchange: 'once',
  refresh: 'chain',
} as const satisfies Record<WorkName, LoadMode>

/** What the first answer must hold: a refusal may come with status 200. */
export const proofs = {
  token: /"access_token":"[^"]{20,}"/,
  introspect: /"active":true/,
  who: /"(?:sub|user|id)":/,
  exchange: /"refresh_token":"[^"]{20,}"/,
  refresh: /"refresh_token":"[^"]{20,}"/,
} as const satisfies Record<WorkName, RegExp>

/** Whole requests as text, one per token or code. */
export const requestsOf = (
  work: WorkName,
  { paths }: Contender,
  material: Material,
  codes: readonly string[],
): readonly string[] => {
  const { client } = material
  const form = (path: string, fields: Readonly<Record<string, string>>): string => {
    const body = new URLSearchParams({ client_id: client.id, client_secret: client.secret, ...fields }).toString()
    return request(
      `POST ${path}`,
      ['Content-Type: application/x-www-form-urlencoded', `Content-Length: ${body.length}`],
      body,
    )
  }
  switch (work) {
    case 'token':
      return [form(paths.token, { grant_type: 'client_credentials', scope: appScope })]
    case 'introspect':
      return material.appTokens.map((token) => form(paths.introspect, { token, token_type_hint: 'access_token' }))
    case 'who':
      return material.userTokens.map((token) =>
        request(`GET ${paths.who}`, [`Authorization: Bearer ${token}`, 'X-Service-Api-Version: 2026-08']),
      )
    case 'exchange':
      return codes.map((code) =>
        form(paths.token, {
          grant_type: 'authorization_code',
          code,
          redirect_uri: client.redirectUri,
          code_verifier: verifier,
        }),
      )
    case 'refresh':
      // The token comes last: the generator replaces it with the next one.
      return material.refreshTokens.map((token) =>
        form(paths.token, { grant_type: 'refresh_token', refresh_token: token }),
      )
  }
  return work satisfies never
}

const request = (line: string, fields: readonly string[], body = ''): string =>
  [`${line} HTTP/1.1`, 'Host: localhost', 'User-Agent: bench', 'Accept: application/json', ...fields, '', body].join(
    '\r\n',
  )

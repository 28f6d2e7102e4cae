import { type Body, type Draft, type Pairs, secret, sessionCookieName } from './draft.ts'

/** Gives a whole number from 0 up to `below`. */
export type Chance = (below: number) => number

/** Something that can be asked of the server: makes a request that is well formed and, as far as the state allows, succeeds. */
export type Operation = {
  readonly name: string
  /** How often it is chosen, relative to the others. */
  readonly weight: number
  draft(chance: Chance, index: number): Draft
}

export type Start = { readonly path: string; readonly query?: Pairs; readonly headers?: Pairs; readonly body?: Body }

export const draftOf = (method: string, { path, query = [], headers = [], body = { kind: 'none' } }: Start): Draft => ({
  operation: `${method} ${path}`,
  isOnPath: true,
  method,
  path,
  query,
  headers: [['Host', 'localhost'], ...headers],
  body,
  encoding: 'utf8',
  flips: [],
  isChunked: false,
})

export const formType = ['Content-Type', 'application/x-www-form-urlencoded'] as const
export const jsonType = ['Content-Type', 'application/json'] as const
export const sameOrigin = ['Sec-Fetch-Site', 'same-origin'] as const
export const bearer = (name: string) => ['Authorization', `Bearer ${secret(name)}`] as const
export const cookie = (name: string) => ['Cookie', `${sessionCookieName}=${secret(name)}`] as const

export const pick = <T>(chance: Chance, from: readonly [T, ...T[]]): T => from[chance(from.length)] ?? from[0]

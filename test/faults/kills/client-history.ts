import { type Answer, call } from '../../support/call.ts'
import { answered, until } from '../../support/nodes.ts'
import { authorize, exchangeBody, refreshBody, type Tokens, type World } from '../../support/world.ts'

/** The answers that one client got, and its last request if that has no answer. Such a request happened completely or not at all. */
export type ClientHistory = {
  readonly spentCodes: string[]
  readonly endedAccessTokens: string[]
  readonly revoked: Tokens[]
  readonly requestIds: string[]
  readonly appTokens: string[]
  readonly revokedAppTokens: string[]
  readonly versions: Map<string, number>
  current: Tokens | null
  unanswered: UnansweredRequest | null
}
type UnansweredRequest =
  /** A refresh may be without a key. */
  | { readonly kind: 'exchange' | 'refresh'; readonly body: unknown; readonly key: string | undefined }
  | { readonly kind: 'revoke'; readonly tokens: Tokens }
  | { readonly kind: 'version'; readonly version: string; readonly key: string }
  | { readonly kind: 'other' }

export const emptyHistory = (): ClientHistory => ({
  spentCodes: [],
  endedAccessTokens: [],
  revoked: [],
  requestIds: [],
  appTokens: [],
  revokedAppTokens: [],
  versions: new Map(),
  current: null,
  unanswered: null,
})

class Unanswered extends Error {}

let counted = 0
const next = () => (counted += 1)

/** One client, which continues until the server no longer answers. */
const live = async (
  world: World,
  session: string,
  managing: string,
  history: ClientHistory,
  pauseMs: number,
): Promise<void> => {
  const { server, app } = world
  const post = async (
    unanswered: UnansweredRequest,
    path: string,
    body: unknown,
    token?: string,
    key?: string,
  ): Promise<Answer> => {
    history.unanswered = unanswered
    const send = async () =>
      await call(server.url, 'POST', path, {
        body,
        ...(token === undefined ? {} : { token }),
        ...(key === undefined ? {} : { headers: { 'Idempotency-Key': key } }),
      })
    const answer = await answered(send).catch(() => {
      throw new Unanswered()
    })
    history.unanswered = null
    if (answer.status >= 400) throw new Error(`${path} answered ${answer.status}: ${answer.text}`)
    history.requestIds.push(answer.headers.get('x-request-id') ?? '')
    return answer
  }
  const other: UnansweredRequest = { kind: 'other' }

  for (;;) {
    const code = await until(async () => (await authorize(server.url, session, app)) ?? null).catch(() => {
      throw new Unanswered()
    })
    const exchangeKey = `kill-${next()}`
    const body = exchangeBody(app, code)
    history.current = null
    let tokens: Tokens = (
      await post({ kind: 'exchange', body, key: exchangeKey }, '/oauth/token', body, undefined, exchangeKey)
    ).body
    history.spentCodes.push(code)
    history.current = tokens
    for (let turn = 0; turn < 3; turn += 1) {
      const key = turn === 1 ? undefined : `kill-${next()}`
      const refreshing = refreshBody(app, tokens.refreshToken)
      const before = tokens
      tokens = (await post({ kind: 'refresh', body: refreshing, key }, '/oauth/token', refreshing, undefined, key)).body
      history.endedAccessTokens.push(before.accessToken)
      history.current = tokens
    }
    await post({ kind: 'revoke', tokens }, '/oauth/revoke', { ...app.development, token: tokens.refreshToken })
    history.revoked.push(tokens)
    history.current = null

    const issued = (await post(other, '/token', { ...app.development, scope: 'site:read' })).body.accessToken
    history.appTokens.push(issued)
    const doomed = (await post(other, '/token', { ...app.development, scope: 'site:read' })).body.accessToken
    await post(other, '/oauth/revoke', {}, doomed)
    history.revokedAppTokens.push(doomed)

    const version = `1.0.${next()}`
    const key = `kill-${version}`
    const made = (await post({ kind: 'version', version, key }, '/versions', { version }, managing, key)).body
    history.versions.set(made.version, made.revision)
    if (pauseMs > 0) await Bun.sleep(pauseMs)
  }
}

/** Plays it until the server is gone, with a pause after each dozen of requests. */
export const play = async (
  world: World,
  session: string,
  managing: string,
  history: ClientHistory,
  pauseMs = 0,
): Promise<void> => {
  try {
    await live(world, session, managing, history, pauseMs)
  } catch (error) {
    if (!(error instanceof Unanswered)) throw error
  }
}

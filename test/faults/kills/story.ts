import { type Answer, call } from '../../support/call.ts'
import { authorize, exchangeBody, refreshBody, type Tokens, type World } from '../../support/world.ts'

/** What one client was told, and what it asked last without hearing an answer. Unknown may have happened or not, never half. */
export type Story = {
  readonly spentCodes: string[]
  readonly deadAccess: string[]
  readonly revoked: Tokens[]
  readonly requestIds: string[]
  readonly appTokens: string[]
  readonly deadAppTokens: string[]
  readonly versions: Map<string, number>
  current: Tokens | null
  unheard: Unheard | null
}
type Unheard =
  | { readonly kind: 'exchange' | 'refresh'; readonly body: unknown; readonly key: string }
  | { readonly kind: 'revoke'; readonly tokens: Tokens }
  | { readonly kind: 'version'; readonly version: string; readonly key: string }
  | { readonly kind: 'other' }

export const emptyStory = (): Story => ({
  spentCodes: [],
  deadAccess: [],
  revoked: [],
  requestIds: [],
  appTokens: [],
  deadAppTokens: [],
  versions: new Map(),
  current: null,
  unheard: null,
})

class Unanswered extends Error {}

let counted = 0
const next = () => (counted += 1)

/** One client that goes on until the server no longer answers. */
const live = async (world: World, session: string, managing: string, story: Story): Promise<void> => {
  const { server, app } = world
  const post = async (unheard: Unheard, path: string, body: unknown, token?: string, key?: string): Promise<Answer> => {
    story.unheard = unheard
    const answer = await call(server.url, 'POST', path, {
      body,
      ...(token === undefined ? {} : { token }),
      ...(key === undefined ? {} : { headers: { 'Idempotency-Key': key } }),
    }).catch(() => {
      throw new Unanswered()
    })
    story.unheard = null
    if (answer.status >= 400) throw new Error(`${path} answered ${answer.status}: ${answer.text}`)
    story.requestIds.push(answer.headers.get('x-request-id') ?? '')
    return answer
  }
  const other: Unheard = { kind: 'other' }

  for (;;) {
    const code = await authorize(server.url, session, app).catch(() => {
      throw new Unanswered()
    })
    const exchangeKey = `kill-${next()}`
    const body = exchangeBody(app, code)
    story.current = null
    let tokens: Tokens = (
      await post({ kind: 'exchange', body, key: exchangeKey }, '/oauth/token', body, undefined, exchangeKey)
    ).body
    story.spentCodes.push(code)
    story.current = tokens
    for (let turn = 0; turn < 3; turn += 1) {
      const key = `kill-${next()}`
      const refreshing = refreshBody(app, tokens.refreshToken)
      const before = tokens
      tokens = (await post({ kind: 'refresh', body: refreshing, key }, '/oauth/token', refreshing, undefined, key)).body
      story.deadAccess.push(before.accessToken)
      story.current = tokens
    }
    await post({ kind: 'revoke', tokens }, '/oauth/revoke', { ...app.development, token: tokens.refreshToken })
    story.revoked.push(tokens)
    story.current = null

    const issued = (await post(other, '/token', { ...app.development, scope: 'site:read' })).body.accessToken
    story.appTokens.push(issued)
    const doomed = (await post(other, '/token', { ...app.development, scope: 'site:read' })).body.accessToken
    await post(other, '/oauth/revoke', {}, doomed)
    story.deadAppTokens.push(doomed)

    const version = `1.0.${next()}`
    const key = `kill-${version}`
    const made = (await post({ kind: 'version', version, key }, '/versions', { version }, managing, key)).body
    story.versions.set(made.version, made.revision)
  }
}

/** Plays it until the server is gone. */
export const play = async (world: World, session: string, managing: string, story: Story): Promise<void> => {
  try {
    await live(world, session, managing, story)
  } catch (error) {
    if (!(error instanceof Unanswered)) throw error
  }
}

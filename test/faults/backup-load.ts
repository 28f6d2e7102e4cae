import { expect } from 'bun:test'
import { createCredential, revokeCredential } from '../../src/operations/credentials/credentials.ts'
import { call } from '../support/call.ts'
import { operator, trace } from '../support/operator.ts'
import {
  addApp,
  addUser,
  appToken,
  authorize,
  type Credentials,
  exchange,
  refreshBody,
  signIn,
  type Tokens,
  type World,
} from '../support/world.ts'

/** The answers that clients and operators got, each with its time. */
export type Ledger = {
  readonly appTokens: { readonly token: string; readonly at: number }[]
  readonly grants: { readonly tokens: Tokens; readonly at: number }[]
  readonly versions: { readonly slug: string; readonly version: string; readonly at: number }[]
  readonly secrets: (Credentials & { readonly id: string; readonly at: number })[]
  readonly revokedSecrets: Set<string>
  readonly sessions: string[]
}
export const emptyLedger = (): Ledger => ({
  appTokens: [],
  grants: [],
  versions: [],
  secrets: [],
  revokedSecrets: new Set(),
  sessions: [],
})

let counted = 0

/** Clients and an operator, which continue until they are stopped. */
export const live = async (world: World, ledger: Ledger, done: AbortSignal): Promise<void> => {
  const { server, app, user, platform } = world
  const managing = await appToken(server.url, app.development)
  const session = await signIn(server.url, user)
  ledger.sessions.push(session)

  const program = async () => {
    while (!done.aborted) {
      const token = await appToken(server.url, app.development)
      ledger.appTokens.push({ token, at: performance.now() })
      const version = `1.0.${(counted += 1)}`
      const made = await call(server.url, 'POST', '/versions', { token: managing, body: { version } })
      expect(made.status).toBe(201)
      ledger.versions.push({ slug: app.slug, version, at: performance.now() })
    }
  }
  const person = async () => {
    while (!done.aborted) {
      const answer = await exchange(server.url, app, await authorize(server.url, session, app))
      expect(answer.status).toBe(200)
      const renewed = await call(server.url, 'POST', '/oauth/token', {
        body: refreshBody(app, answer.body.refreshToken),
      })
      ledger.grants.push({ tokens: renewed.body, at: performance.now() })
      if (ledger.grants.length % 3 === 0) {
        const body = { ...app.development, token: renewed.body.refreshToken }
        expect((await call(server.url, 'POST', '/oauth/revoke', { body })).status).toBe(200)
      }
    }
  }
  const operating = async () => {
    while (!done.aborted) {
      const other = await addApp(platform, await addUser(platform)) // an account has so many apps at most
      const made = await createCredential(platform, trace, operator, {
        slug: other.slug,
        environment: 'development',
        label: null,
      })
      const { id, clientId, clientSecret } = made
      ledger.secrets.push({ id, clientId, clientSecret, at: performance.now() })
      // Often not the newest one: what was revoked long after the backup must not come back either.
      const doomed = ledger.secrets[Math.floor(ledger.secrets.length / 2)]
      if (doomed !== undefined && !ledger.revokedSecrets.has(doomed.id)) {
        await revokeCredential(platform, trace, operator, doomed.id)
        ledger.revokedSecrets.add(doomed.id)
      }
      await Bun.sleep(20)
    }
  }
  await Promise.all([program(), program(), person(), person(), operating()])
}

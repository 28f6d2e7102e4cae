import { type Answer, call } from '../../support/call.ts'
import { Ledger } from '../../support/ledger.ts'
import { type AppInWorld, authorizeBody, exchangeBody, refreshBody } from '../../support/world.ts'

export type Cast = { readonly app: AppInWorld; readonly session: string; readonly managing: string }

/** The result of a run: the ledger, and the answers that were neither a success nor the refusal of a server in doubt. */
export type Told = { readonly ledger: Ledger; readonly unplanned: readonly string[]; readonly refused: number }

/** It has a request ID, and a refusal is the envelope with the same one. */
const isWhole = ({ status, headers, body }: Answer): boolean => {
  const id = headers.get('x-request-id') ?? ''
  return /^req_[0-9a-f]{32}$/.test(id) && (status < 400 || body?.error?.requestId === id)
}

/**
 * The same writes in the same order, one of each kind, by one client that continues whatever the answers are. A server that dies
 * under it no longer answers.
 */
export const scriptedRun = async (url: string, { app, session, managing }: Cast): Promise<Told> => {
  const ledger = new Ledger()
  const unplanned: string[] = []
  let refused = 0

  const write = async (path: string, body: unknown, token?: string): Promise<Answer | null> => {
    const answer = await call(url, 'POST', path, { body, ...(token === undefined ? {} : { token }) }).catch(() => null)
    if (answer === null) return null
    if (!isWhole(answer)) unplanned.push(`${path}: no request ID in ${answer.status} ${answer.text}`)
    if (answer.status < 300) {
      ledger.acknowledged(answer)
      return answer
    }
    const isDoubt = answer.status === 503 && Number(answer.headers.get('retry-after')) > 0
    if (!isDoubt || answer.body?.error?.code !== 'unavailable')
      unplanned.push(`${path}: ${answer.status} ${answer.text}`)
    refused += 1
    return null
  }
  const issue = async (): Promise<string | null> => {
    const token = (await write('/token', { ...app.development, scope: 'site:read' }))?.body.accessToken ?? null
    if (token !== null) ledger.live('/me', token)
    return token
  }
  const grant = async (): Promise<{ accessToken: string; refreshToken: string } | null> => {
    const code = (await write('/oauth/authorize', authorizeBody(app), session))?.body.code
    const pair = code === undefined ? null : ((await write('/oauth/token', exchangeBody(app, code)))?.body ?? null)
    if (pair !== null) ledger.live('/oauth/me', pair.accessToken)
    return pair
  }

  await issue()
  const first = await grant()
  if (first !== null) {
    ledger.doubtful(first.accessToken)
    const second = (await write('/oauth/token', refreshBody(app, first.refreshToken)))?.body
    if (second !== undefined) {
      ledger.ended('/oauth/me', first.accessToken)
      const revoked = await write('/oauth/revoke', { ...app.development, token: second.refreshToken })
      if (revoked !== null) ledger.ended('/oauth/me', second.accessToken)
    }
  }
  const doomed = await issue()
  if (doomed !== null) {
    ledger.doubtful(doomed)
    if ((await write('/oauth/revoke', {}, doomed)) !== null) ledger.ended('/me', doomed)
  }
  const version = (await write('/versions', { version: '1.0.0', manifest: { filler: 'x'.repeat(9_000) } }, managing))
    ?.body
  if (version !== undefined) ledger.version(version.version)
  await grant()
  await issue()
  return { ledger, unplanned, refused }
}

import { type Answer, call, type Call, codeOf } from '../../support/call.ts'
import type { Ledger } from '../../support/ledger.ts'
import { authorizeBody, exchangeBody, refreshBody, type Tokens, type World } from '../../support/world.ts'

export type Random = (below: number) => number

/** What clients of several servers met that no fault of the database excuses, and when each server confirmed writes. */
export type Findings = {
  readonly faults: string[]
  /** Of each server, by `performance.now()`. */
  readonly confirmedAt: readonly number[][]
}

let counted = 0

/**
 * Clients of several servers that never give up: a request that is refused for a fault of the database is sent again, with
 * its idempotency key and perhaps to another server, until it is answered. Only then its effect goes into the ledger. Others
 * ask for tokens of the ledger all the time. They end when the signal says so.
 */
export const startClients = (
  nodes: readonly World[],
  { session, ledger, random, ending }: ClientsOptions,
): { readonly findings: Findings; readonly ended: Promise<unknown> } => {
  const findings: Findings = { faults: [], confirmedAt: nodes.map(() => []) }
  const fault = (text: string) => {
    if (findings.faults.length < 20) findings.faults.push(text)
  }

  const noteEnd = async ({ server }: World) => {
    const code = await server.ended
    const errors = server.log().match(/^.*"level":"error","event":"(?!http).*$/gm)
    if (!ending.aborted) fault(`A server ended with ${code}: ${errors?.at(-1)}`)
  }
  for (const node of nodes) void noteEnd(node)

  /** A write, sent until it is answered. Every server may get a repetition. @throws Ended */
  const write = async (first: number, path: string, request: Call): Promise<Answer> => {
    const headers = { 'Idempotency-Key': `client-${(counted += 1)}` }
    for (let [index, isFirst] = [first, true]; ; [index, isFirst] = [random(nodes.length), false]) {
      if (ending.aborted) throw new Ended()
      const node = nodes[index]
      if (node === undefined) continue
      const answer = await call(node.server.url, 'POST', path, { headers, ...request })
      if (answer.status === 200) {
        findings.confirmedAt[index]?.push(performance.now())
        if (isFirst) ledger.acknowledged(answer) // a repetition of what was done leaves no audit row
        return answer
      }
      if (answer.status !== 503) {
        fault(`${path} answered ${answer.status} ${codeOf(answer)}`)
        throw new Ended()
      }
      if (!answer.headers.has('retry-after')) fault(`${path} answered 503 without Retry-After`)
      await Bun.sleep(50 + random(100))
    }
  }

  const useAppTokens = async (index: number, { app }: World): Promise<void> => {
    const credentials = app.development
    const body = { ...credentials, scope: 'site:read' }
    const token: string = (await write(index, '/token', { body })).body.accessToken
    ledger.live('/me', token)
    if (random(2) === 0) return
    ledger.doubtful(token)
    await write(random(nodes.length), '/oauth/revoke', { body: { ...credentials, token } })
    ledger.ended('/me', token)
  }

  const useGrant = async (index: number, { app }: World): Promise<void> => {
    const asked = { token: session, body: authorizeBody(app) }
    const { code } = (await write(index, '/oauth/authorize', asked)).body
    let tokens: Tokens = (await write(index, '/oauth/token', { body: exchangeBody(app, code) })).body
    ledger.live('/oauth/me', tokens.accessToken)
    for (let turn = 0; turn < 3; turn += 1) {
      const before = tokens
      ledger.doubtful(before.accessToken)
      const body = refreshBody(app, before.refreshToken)
      tokens = (await write(random(nodes.length), '/oauth/token', { body })).body
      ledger.ended('/oauth/me', before.accessToken)
      ledger.live('/oauth/me', tokens.accessToken)
    }
    if (random(2) === 0) return
    ledger.doubtful(tokens.accessToken)
    const body = { ...app.development, token: tokens.refreshToken }
    await write(random(nodes.length), '/oauth/revoke', { body })
    ledger.ended('/oauth/me', tokens.accessToken)
  }

  const watch = async (_: number, { server }: World): Promise<void> => {
    const found = await ledger.contradiction(server.url, random)
    if (found !== null) fault(found)
  }

  const repeat = async (work: (index: number, node: World) => Promise<void>, index: number, node: World) => {
    while (!ending.aborted) {
      try {
        await work(index, node)
      } catch (error) {
        if (!(error instanceof Ended)) fault(String(error))
      }
      await Bun.sleep(random(20))
    }
  }
  const all = nodes.flatMap((node, index) =>
    [useAppTokens, useAppTokens, useGrant, useGrant, watch, watch].map(async (work) => await repeat(work, index, node)),
  )
  return { findings, ended: Promise.all(all) }
}

type ClientsOptions = {
  readonly session: string
  readonly ledger: Ledger
  readonly random: Random
  readonly ending: AbortSignal
}

/** Thrown where a client stops. */
class Ended extends Error {}

import type { Platform } from '../../src/operations/platform.ts'
import { authenticateAppToken, authenticateUserToken } from '../../src/operations/authenticate.ts'
import { type Answer, call } from './call.ts'
import { faultsIn } from './database-file.ts'

type Door = '/me' | '/oauth/me'

/**
 * What clients were told, for comparison with what the next server knows. A request without a clear answer may or may not
 * have been carried out, so it is removed.
 */
export class Ledger {
  readonly #tokens = new Map<string, { readonly door: Door; readonly status: 200 | 401 }>()
  readonly #requests: string[] = []
  readonly #versions: string[] = []

  live(door: Door, token: string): void {
    this.#tokens.set(token, { door, status: 200 })
  }

  ended(door: Door, ...tokens: readonly string[]): void {
    for (const token of tokens) this.#tokens.set(token, { door, status: 401 })
  }

  doubtful(...tokens: readonly string[]): void {
    for (const token of tokens) this.#tokens.delete(token)
  }

  version(name: string): void {
    this.#versions.push(name)
  }

  /** An acknowledged write, which must be in the audit log. */
  acknowledged(answer: Answer): void {
    this.#requests.push(answer.headers.get('x-request-id') ?? '')
  }

  get size(): number {
    return this.#requests.length
  }

  /** Asks a running server about one of the tokens, while clients change others: how the answer contradicts, or null. */
  async contradiction(url: string, random: (below: number) => number): Promise<string | null> {
    const tokens = [...this.#tokens]
    const [token, { door, status }] = tokens[random(tokens.length)] ?? ['', { door: '/me', status: 503 }]
    if (token === '') return null
    const answer = (await call(url, 'GET', door, { token })).status
    // A token that was ended meanwhile may be answered either way.
    const isTrue = answer === status || answer === 503 || this.#tokens.get(token)?.status !== status
    return isTrue ? null : `${door} of ${token.slice(0, 12)}: ${answer} instead of ${status}`
  }

  /** Where a running server, perhaps without its disk or after a restart, contradicts this. */
  async contradictions(url: string, mayRefuse: 'nothing' | 'in doubt'): Promise<readonly string[]> {
    const said = await Promise.all(
      [...this.#tokens].map(async ([token, { door, status }]) => {
        const answer = (await call(url, 'GET', door, { token })).status
        const isDoubt = mayRefuse === 'in doubt' && answer === 503
        return answer === status || isDoubt ? [] : [`${door} of ${token.slice(0, 12)}: ${answer} instead of ${status}`]
      }),
    )
    return said.flat()
  }

  /** The tokens whose state differs in a file that no server uses. */
  async misjudged(platform: Platform): Promise<readonly string[]> {
    const said = await Promise.all(
      [...this.#tokens].map(async ([token, { door, status }]) => {
        const authenticate = door === '/me' ? authenticateAppToken : authenticateUserToken
        const isLive = (await authenticate(platform, token)) !== null
        return isLive === (status === 200) ? [] : [`${token.slice(0, 12)} is ${isLive ? 'alive' : 'over'}`]
      }),
    )
    return said.flat()
  }

  /** The faults of the file, and what is missing in it. */
  async missing({ database }: Platform, file: string, appId: string, since = 0): Promise<readonly string[]> {
    const rows = await database.queries.audit.list({ appId, since, limit: 100_000 })
    const told = new Set(rows.map(({ requestId }) => requestId))
    const found = await Promise.all(
      this.#versions.map(async (name) => [name, await database.queries.versions.byName(appId, name)] as const),
    )
    return [
      ...(await faultsIn(file)),
      ...this.#requests.filter((id) => !told.has(id)).map((id) => `no audit row of ${id}`),
      ...found.filter(([, version]) => version === null).map(([name]) => `no version ${name}`),
    ]
  }
}

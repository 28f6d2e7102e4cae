import { join } from 'node:path'
import type { Json } from '../../support/call.ts'
import type { AppInWorld } from '../../support/world.ts'
import { programAt, type ProgramName } from '../../support/needs.ts'

/** How to run one of the client scripts. */
export type ClientCommand = () => Promise<readonly string[]>

const scriptNamed = (name: string) => join(import.meta.dir, '..', name)

export const byNode =
  (script: string): ClientCommand =>
  async () => [programAt('node'), scriptNamed(script)]

export const byBun =
  (script: string): ClientCommand =>
  async () => [process.execPath, scriptNamed(script)]

export const byPython =
  (script: string, library: ProgramName): ClientCommand =>
  async () => [programAt(library), '-B', scriptNamed(script)]

type Registration = {
  readonly issuer: string
  readonly app: AppInWorld
  readonly scope: string
  readonly appScope: string
  /** PEM file of the authority to trust. */
  readonly authority: string
}

/** A client process: the URL that it sends the browser to, and its report after the browser has returned. */
export type RunningClient = {
  readonly authorizationUrl: string
  /** @throws Error with the output of a client that failed */
  finish(callbackUrl: string): Promise<Json>
}

/** @throws Error with the output of the client, or with a sentence about what is not installed */
export const startClient = async (command: ClientCommand, registration: Registration): Promise<RunningClient> => {
  const { child, nextLine } = spawnClient(await command(), environmentOf(registration))
  return {
    authorizationUrl: await nextLine(),
    finish: async (callbackUrl) => {
      child.stdin.write(`${callbackUrl}\n`)
      await child.stdin.end()
      return JSON.parse(await nextLine())
    },
  }
}

/** A client process, and the lines that it prints. A line that does not come is an error with the output of the client. */
export const spawnClient = (command: readonly string[], env: Readonly<Record<string, string>>) => {
  const child = Bun.spawn([...command], { env, stdin: 'pipe', stdout: 'pipe', stderr: 'pipe' })
  const complaints = new Response(child.stderr).text()
  const lines = linesOf(child.stdout)
  const nextLine = async (): Promise<string> => {
    const { value, done } = await lines.next()
    if (done !== true) return value
    throw new Error(`The client gave up: ${await complaints}`)
  }
  return { child, nextLine }
}

const environmentOf = ({ issuer, app, scope, appScope, authority }: Registration) => ({
  PATH: process.env['PATH'] ?? '',
  ISSUER: issuer,
  CLIENT_ID: app.development.clientId,
  CLIENT_SECRET: app.development.clientSecret,
  REDIRECT_URI: app.redirectUri,
  SCOPE: scope,
  APP_SCOPE: appScope,
  NODE_EXTRA_CA_CERTS: authority, // how Node and Bun learn of another certificate authority
  REQUESTS_CA_BUNDLE: authority, // and Python's requests
})

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true })
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n')) {
      yield text.slice(0, end)
      text = text.slice(end + 1)
    }
  }
}

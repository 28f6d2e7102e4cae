import { AppPlatformError } from './app-platform-error.ts'
import { isAnswer, isEmbeddedAnswer, isObject } from './answer-shapes.ts'
import type { EmbeddedAnswer, EmbeddedIdentity, ResourceQuery } from './contract-types.ts'
import { createEndpoints, everyItem } from './endpoints.ts'
import { type TokenSource, withToken } from './tokens.ts'
import { type CallOptions, contractPath, createTransport, type TransportOptions } from './transport.ts'

type FrameMessage = { readonly origin: string; readonly source: unknown; readonly data: unknown }
type Listener = (message: FrameMessage) => void

/** The parts of `window` that are used. */
export type FrameWindow = {
  readonly location: { readonly hash: string; readonly pathname: string; readonly search: string }
  readonly history: { replaceState(state: null, unused: string, url: string): void }
  readonly parent: { postMessage(message: unknown, targetOrigin: string): void }
  addEventListener(type: 'message', listener: Listener): void
  removeEventListener(type: 'message', listener: Listener): void
}

export type EmbeddedSessionOptions = TransportOptions & { readonly clientId: string }

/** The page of an app in a frame of the builder, with one user. Every call throws AppPlatformError. */
export type EmbeddedSession = Awaited<ReturnType<typeof openEmbeddedSession>>

type Held = EmbeddedAnswer & { readonly accessToken: string; readonly renewAt: number }

/** How long the page of the builder may take to send a code. */
const codeTimeoutMs = 15_000

/**
 * Takes the code out of the page's URL and exchanges it for a session, which renews itself while the page is open.
 * @param frame `window`
 * @param options `url` is the public origin of the platform, a constant of the app
 * @throws AppPlatformError code_missing if the page was opened otherwise
 */
export const openEmbeddedSession = async (
  frame: FrameWindow,
  { clientId, ...options }: EmbeddedSessionOptions,
  call: CallOptions = {},
) => {
  const send = createTransport(options, null)
  const endpoints = createEndpoints(send)
  const code = new URLSearchParams(frame.location.hash.slice(1)).get('code')
  if (code === null) throw new AppPlatformError('code_missing', 'The page was not opened by the builder.')
  frame.history.replaceState(null, '', frame.location.pathname + frame.location.search)

  const exchange = async (given: string, options: CallOptions = {}): Promise<Held> => {
    const request = { method: 'POST', path: '/api/embedded/session', body: { clientId, code: given } } as const
    const answer = await send(isEmbeddedAnswer, { ...options, ...request })
    // A minute before it expires.
    return { ...answer, accessToken: answer.sessionToken, renewAt: Date.now() + (answer.expiresIn - 60) * 1000 }
  }
  let held = await exchange(code, call)
  let coming: Promise<Held> | null = null
  const renew = async (): Promise<Held> => {
    try {
      held = await exchange(await anotherCode(frame, new URL(options.url).origin))
      return held
    } finally {
      coming = null
    }
  }
  const renewed = async (): Promise<Held> => {
    coming ??= renew()
    return await coming
  }
  const session: TokenSource<Held> = {
    get: async () => (Date.now() < held.renewAt ? held : await renewed()),
    after: async (refused) => (refused.accessToken === held.accessToken ? await renewed() : held),
  }
  const resources = async (query: ResourceQuery, options: CallOptions = {}) =>
    await withToken(session, options, async (signed) => await endpoints.listResources(query, signed))
  return {
    /** Where the app was opened, and with which scopes. */
    install: held.install,
    scope: held.scope,
    me: async (options: CallOptions = {}) =>
      await withToken(session, options, async (signed) =>
        send(isAnswer<EmbeddedIdentity>, { ...signed, method: 'GET', path: `${contractPath}/oauth/me` }),
      ),
    resources,
    /** Resources of all pages. A page is requested when the loop reaches it. */
    allResources: (query: Omit<ResourceQuery, 'limit' | 'cursor'>, options?: CallOptions) =>
      everyItem(async (paging) => await resources({ ...query, ...paging }, options)),
  }
}

/** Asks the page of the builder for a code, and listens to that page only. */
const anotherCode = async (frame: FrameWindow, builder: string): Promise<string> => {
  let listen: Listener | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  try {
    return await new Promise<string>((resolve, reject) => {
      listen = ({ origin, source, data }) => {
        if (origin !== builder || source !== frame.parent || !isObject(data)) return
        if (data['type'] === 'app-platform:code' && typeof data['code'] === 'string') resolve(data['code'])
        if (data['type'] === 'app-platform:code-refused') {
          reject(new AppPlatformError('session_ended', 'The install, the app or the session of the user has ended.'))
        }
      }
      const late = new AppPlatformError('timed_out', 'The page of the builder did not send a code in time.')
      timer = setTimeout(() => reject(late), codeTimeoutMs)
      frame.addEventListener('message', listen)
      frame.parent.postMessage({ type: 'app-platform:code-request' }, builder)
    })
  } finally {
    clearTimeout(timer)
    if (listen !== null) frame.removeEventListener('message', listen)
  }
}

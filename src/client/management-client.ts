import { isAnswer, isAuditPage, isPage } from './answer-shapes.ts'
import { AppPlatformError } from './app-platform-error.ts'
import type {
  AuditEvent,
  BuilderWebhookEndpointPage,
  CommandRequest,
  CommandResult,
  EndedAccess,
  ErasedUser,
  GivenScopes,
  ImportedResources,
  ImportedUsers,
  InstallQuery,
  Page,
  Paging,
  ManagedApp,
  ManagedInstall,
  ManagedResource,
  ManagedResourceQuery,
  ManagedScope,
  ManagedUser,
  PersonalData,
  RemovedResource,
  ResourceLine,
  ResourceStatement,
  RetiredScope,
  ScopeStatement,
  UserLine,
  UserQuery,
  UserStatement,
  WebhookAttemptPage,
  WebhookPing,
  WebhookResend,
  WebhookResent,
} from './contract-types.ts'
import { createEndpoints, everyItem } from './endpoints.ts'
import { type Lines, lineStream } from './request-body.ts'
import { type CallOptions, createTransport, type Send, type TransportOptions } from './transport.ts'

export type ManagementClientOptions = TransportOptions & {
  /** `apok_…`, with the rights that the calls need. */
  readonly serviceKey: string
}

/** A builder's backend at the platform. Every call throws AppPlatformError, or the reason of its signal. */
export type ManagementClient = ReturnType<typeof createManagementClient>

/**
 * Every endpoint of the management API. Each call but `commands.run` can be repeated, so each is retried. The key is held in closures, so that
 * printing or serialising the client does not show it.
 * @throws AppPlatformError insecure_url; TypeError for a URL that is not an origin
 */
export const createManagementClient = ({ serviceKey: bearer, ...options }: ManagementClientOptions) => {
  const transport = createTransport(options)
  const send: Send = async (shape, request) =>
    await transport(shape, { idempotent: true, ...request, path: `/api/management${request.path}`, bearer })
  const endpoints = createEndpoints(transport)
  return {
    users: usersOf(send),
    resources: resourcesOf(send),
    installs: installsOf(send),
    apps: appsOf(send),
    scopes: scopesOf(send),
    webhooks: webhooksOf(send),
    signIn: signInOf(send),
    audit: auditOf(send),
    commands: {
      /** Runs a command of operators once; see its exit code. It is not repeated after a lost answer. */
      run: async (body: CommandRequest, call: CallOptions = {}) =>
        await send(isAnswer<CommandResult>, { ...call, method: 'POST', path: '/commands', body, idempotent: false }),
    },
    /** What the platform says of a token of any app, in the names of RFC 7662; `active` is false for a dead one. */
    introspect: async (token: string, call?: CallOptions) => await endpoints.introspect({ token }, { ...call, bearer }),
  }
}

const userPath = (externalId: string, rest = '') => `/users/${segment('externalId', externalId)}${rest}`

const usersOf = (send: Send) => {
  const list = async (query: UserQuery = {}, call: CallOptions = {}): Promise<Page<ManagedUser>> =>
    await send(isPage<Page<ManagedUser>>, { ...call, method: 'GET', path: '/users', query })
  return {
    /** Creates the user (status 201), or replaces what is stored (200). Without `pictureUrl` there is no picture. */
    put: async (externalId: string, body: UserStatement, call: CallOptions = {}) =>
      await send(isAnswer<ManagedUser>, { ...call, method: 'PUT', path: userPath(externalId), body }),
    /** Creates and replaces many users at once; if a line is wrong, none. */
    import: async (lines: ImportLines<UserLine>, call: CallOptions = {}) =>
      await sendLines(send, isAnswer<ImportedUsers>, lines, { ...call, path: '/users' }),
    get: async (externalId: string, call: CallOptions = {}) =>
      await send(isAnswer<ManagedUser>, { ...call, method: 'GET', path: userPath(externalId) }),
    list,
    /** Users of all pages, oldest first. A page is requested when the loop reaches it. */
    all: (query: Omit<UserQuery, keyof Paging> = {}, call?: CallOptions) =>
      everyItem(async (paging) => await list({ ...query, ...paging }, call)),
    /** Everything that is stored about the person, for the person. */
    export: async (externalId: string, call: CallOptions = {}) =>
      await send(isAnswer<PersonalData>, { ...call, method: 'GET', path: userPath(externalId, '/export') }),
    /** Erases the person. Repeated after a lost answer, it throws `record_not_found`: the person is erased. */
    erase: async (externalId: string, call: CallOptions = {}) =>
      await send(isAnswer<ErasedUser>, { ...call, method: 'DELETE', path: userPath(externalId) }),
    /** Ends sessions and grants; with `only: 'sessions'`, apps keep their access. */
    endAccess: async (externalId: string, body: { readonly only?: 'sessions' } = {}, call: CallOptions = {}) =>
      await send(isAnswer<EndedAccess>, { ...call, method: 'POST', path: userPath(externalId, '/end-access'), body }),
  }
}

/** Records, or parts of a file that has them one a line: text or bytes. Or a function that opens them, again if need be. */
export type ImportLines<Line = ResourceLine> = LineSource<Line> | (() => LineSource<Line>)
type LineSource<Line> = Iterable<Line | string | Uint8Array> | AsyncIterable<Line | string | Uint8Array>

/** 256 MiB over a slow line. */
const importTimeoutMs = 900_000

type LinesCall = CallOptions & { readonly path: string; readonly query?: Readonly<Record<string, string>> }

/**
 * Sends lines, which are read meanwhile. A list, or a function that opens the lines again, is retried like every call; anything else
 * can be sent only once.
 */
const sendLines = async <T>(
  send: Send,
  shape: Parameters<typeof send<T>>[0],
  lines: ImportLines<object>,
  call: LinesCall,
): Promise<T> => {
  const broken = new AbortController()
  const { signal } = broken
  const opened = (): Lines => (typeof lines === 'function' ? lines() : lines)
  return await send(shape, {
    timeoutMs: importTimeoutMs,
    ...call,
    // What the source throws ends the call, and the caller gets it unchanged.
    signal: call.signal === undefined ? signal : AbortSignal.any([signal, call.signal]),
    method: 'POST',
    lines: () => lineStream(opened(), (error) => broken.abort(error)),
    isUnrepeatable: typeof lines !== 'function' && !Array.isArray(lines),
  })
}

type Kind = ManagedResource['kind']

export type ImportOptions = CallOptions & {
  /** Removes the builder's websites and stores that no line is about. */
  readonly prune?: boolean
}

const resourcePath = (kind: Kind, externalId: string) =>
  `/resources/${segment('kind', kind)}/${segment('externalId', externalId)}`

const resourcesOf = (send: Send) => {
  const list = async (
    kind: Kind,
    query: ManagedResourceQuery = {},
    call: CallOptions = {},
  ): Promise<Page<ManagedResource>> => {
    const path = `/resources/${segment('kind', kind)}`
    return await send(isPage<Page<ManagedResource>>, { ...call, method: 'GET', path, query })
  }
  return {
    /** Creates the website or store (status 201), or replaces what is stored (200). A change of owner ends the installs on it. */
    put: async (kind: Kind, externalId: string, body: ResourceStatement, call: CallOptions = {}) =>
      await send(isAnswer<ManagedResource>, { ...call, method: 'PUT', path: resourcePath(kind, externalId), body }),
    get: async (kind: Kind, externalId: string, call: CallOptions = {}) =>
      await send(isAnswer<ManagedResource>, { ...call, method: 'GET', path: resourcePath(kind, externalId) }),
    list,
    /** Websites or stores of all pages, oldest first. A page is requested when the loop reaches it. */
    all: (kind: Kind, query: Omit<ManagedResourceQuery, keyof Paging> = {}, call?: CallOptions) =>
      everyItem(async (paging) => await list(kind, { ...query, ...paging }, call)),
    /** Removes it and ends the installs on it. Repeated after a lost answer, it throws `record_not_found`: it is removed. */
    remove: async (kind: Kind, externalId: string, call: CallOptions = {}) =>
      await send(isAnswer<RemovedResource>, { ...call, method: 'DELETE', path: resourcePath(kind, externalId) }),
    /** Creates, replaces and removes many at once: all or, if a line is wrong, none. */
    import: async (lines: ImportLines<ResourceLine>, { prune, ...call }: ImportOptions = {}) =>
      await sendLines(send, isAnswer<ImportedResources>, lines, {
        ...call,
        path: '/resources/import',
        query: prune === true ? { prune: 'true' } : {},
      }),
  }
}

const installsOf = (send: Send) => {
  const list = async (query: InstallQuery = {}, call: CallOptions = {}): Promise<Page<ManagedInstall>> =>
    await send(isPage<Page<ManagedInstall>>, { ...call, method: 'GET', path: '/installs', query })
  const step =
    (name: 'approve' | 'reject' | 'deactivate') =>
    async (id: string, call: CallOptions = {}) =>
      await send(isAnswer<ManagedInstall>, { ...call, method: 'POST', path: `/installs/${segment('id', id)}/${name}` })
  return {
    list,
    /** Installs of all pages, newest first. A page is requested when the loop reaches it. */
    all: (query: Omit<InstallQuery, keyof Paging> = {}, call?: CallOptions) =>
      everyItem(async (paging) => await list({ ...query, ...paging }, call)),
    approve: step('approve'),
    reject: step('reject'),
    deactivate: step('deactivate'),
  }
}

const appPath = (slug: string, rest = '') => `/apps/${segment('app', slug)}${rest}`

const appsOf = (send: Send) => ({
  /** The apps that belong to the user, by slug. */
  ofUser: async (ownerExternalId: string, call: CallOptions = {}): Promise<Page<ManagedApp>> =>
    await send(isPage<Page<ManagedApp>>, { ...call, method: 'GET', path: '/apps', query: { ownerExternalId } }),
  /** Gives the app with this slug to another user. */
  transfer: async (slug: string, toExternalId: string, call: CallOptions = {}) =>
    await send(isAnswer<ManagedApp>, {
      ...call,
      method: 'POST',
      path: appPath(slug, '/transfer'),
      body: { toExternalId },
    }),
  /** Deletes the app. Repeated after a lost answer, it throws `record_not_found`: it is deleted. */
  delete: async (slug: string, call: CallOptions = {}) =>
    await send(isAnswer<ManagedApp>, { ...call, method: 'DELETE', path: appPath(slug) }),
})

const scopePath = (name: string, rest = '') => `/scopes/${segment('name', name)}${rest}`

const scopeOfAppPath = (name: string, app: string) => scopePath(name, `/apps/${segment('app', app)}`)

const scopesOf = (send: Send) => {
  const list = async (query: Paging = {}, call: CallOptions = {}): Promise<Page<ManagedScope>> =>
    await send(isPage<Page<ManagedScope>>, { ...call, method: 'GET', path: '/scopes', query })
  return {
    /** Adds a scope of your own (status 201). What is said of it never changes; the same again changes nothing (200). */
    put: async (name: string, body: ScopeStatement, call: CallOptions = {}) =>
      await send(isAnswer<ManagedScope>, { ...call, method: 'PUT', path: scopePath(name), body }),
    get: async (name: string, call: CallOptions = {}) =>
      await send(isAnswer<ManagedScope>, { ...call, method: 'GET', path: scopePath(name) }),
    list,
    /** Your own scopes of all pages, by name. A page is requested when the loop reaches it. */
    all: (call?: CallOptions) => everyItem(async (paging) => await list(paging, call)),
    /** Retires the scope for good: apps, grants and live tokens lose it at once. */
    retire: async (name: string, call: CallOptions = {}) =>
      await send(isAnswer<RetiredScope>, { ...call, method: 'DELETE', path: scopePath(name) }),
    /** Lets the app with this slug register a restricted scope. */
    give: async (name: string, app: string, call: CallOptions = {}) =>
      await send(isAnswer<GivenScopes>, { ...call, method: 'PUT', path: scopeOfAppPath(name, app) }),
    /** Takes it back: the app, its grants and its live tokens lose it at once. */
    take: async (name: string, app: string, call: CallOptions = {}) =>
      await send(isAnswer<GivenScopes>, { ...call, method: 'DELETE', path: scopeOfAppPath(name, app) }),
  }
}

const webhookPath = (id: string, rest: string) => `/webhooks/${segment('id', id)}/${rest}`

const webhooksOf = (send: Send) => {
  const attempts = async (id: string, query: Paging = {}, call: CallOptions = {}): Promise<WebhookAttemptPage> =>
    await send(isPage<WebhookAttemptPage>, { ...call, method: 'GET', path: webhookPath(id, 'attempts'), query })
  return {
    /** Your own endpoints, which are registered on the desk. */
    list: async (call: CallOptions = {}) =>
      await send(isPage<BuilderWebhookEndpointPage>, { ...call, method: 'GET', path: '/webhooks' }),
    /** Sends a ping now. */
    ping: async (id: string, call: CallOptions = {}) =>
      await send(isAnswer<WebhookPing>, { ...call, method: 'POST', path: webhookPath(id, 'ping'), body: {} }),
    attempts,
    /** The calls of the last 30 days, newest first. A page is requested when the loop reaches it. */
    allAttempts: (id: string, call?: CallOptions) => everyItem(async (paging) => await attempts(id, paging, call)),
    /** Sends events again: one, all since a time, or all that failed for good. */
    resend: async (id: string, body: WebhookResend, call: CallOptions = {}) =>
      await send(isAnswer<WebhookResent>, { ...call, method: 'POST', path: webhookPath(id, 'resend'), body }),
  }
}

/** Where to send the browser. */
type Redirect = { readonly redirectTo: string }

const signInOf = (send: Send) => {
  const answer = async (request: string, path: string, body: object, call: CallOptions): Promise<Redirect> =>
    await send(isAnswer<Redirect>, {
      ...call,
      method: 'POST',
      path: `/sign-in-requests/${segment('request', request)}${path}`,
      body,
    })
  return {
    /**
     * Says who the browser belongs to that came with this request. Send it to `redirectTo`. With `reauthenticated`, you have asked the
     * person to prove it again, as `prompt=login` in the address asks you to.
     */
    accept: async (
      request: string,
      externalId: string,
      { reauthenticated = false, ...call }: CallOptions & { readonly reauthenticated?: boolean } = {},
    ) => await answer(request, '/accept', { externalId, ...(reauthenticated && { reauthenticated }) }, call),
    /** Refuses to say so. The person sees the reason at `redirectTo`. */
    reject: async (request: string, reason: string, call: CallOptions = {}) =>
      await answer(request, '/reject', { reason }, call),
  }
}

type AuditPosition = {
  /** The `position` of the last event that is known; 0 or nothing begins with the oldest. */
  readonly after?: number
}

const auditOf = (send: Send) => {
  const read = async (query: AuditPosition & { readonly limit?: number } = {}, call: CallOptions = {}) =>
    await send(isAuditPage, { ...call, method: 'GET', path: '/audit', query })
  /** The events up to now. To go on later, keep the `position` of the last one. */
  async function* all({ after = 0 }: AuditPosition = {}, call?: CallOptions): AsyncGenerator<AuditEvent, void> {
    for (let position = after; ;) {
      const { data, next } = await read({ after: position, limit: 1000 }, call)
      yield* data
      if (next <= position) return
      position = next
    }
  }
  return { read, all }
}

/** A part of the path. Those that a URL would drop would make another call of this one. */
const segment = (param: string, value: string): string => {
  if (value !== '' && value !== '.' && value !== '..') return encodeURIComponent(value)
  throw new AppPlatformError('invalid_request', 'This ID cannot be part of a URL.', { param })
}

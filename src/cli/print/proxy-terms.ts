import { UsageError } from '../usage-error.ts'
import type { Deployment } from './deployment.ts'

/** What a proxy in front of the server has to agree with it about. */
export type ProxyTerms = {
  readonly publicUrl: URL
  readonly upstream: string
  /** Sentences for whoever keeps the file. */
  readonly notes: readonly string[]
  /** Longer than the largest body that the server takes, so that it is the server that refuses what is larger. */
  readonly bodyMegabytes: number
  /** Shorter than the server keeps a quiet connection, so that a request never meets a closed one. */
  readonly keepAliveSeconds: number
  /** Longer than the server takes for its slowest answer. */
  readonly answerSeconds: number
  /** Longer than a restart takes: its drain and its start. */
  readonly patienceSeconds: number
}

/** @throws UsageError without PUBLIC_URL: a proxy is known by its name */
export const proxyTerms = (
  { publicUrl, upstream, trustsProxies }: Deployment,
  server: { readonly largestBodyBytes: number; readonly idleSeconds: number; readonly drainMs: number },
): ProxyTerms => {
  if (publicUrl === null) throw new UsageError('PUBLIC_URL is not set: give the origin that clients will see.')
  return {
    publicUrl,
    upstream,
    notes: [
      `In front of App Platform, which listens on ${upstream}.`,
      ...(trustsProxies
        ? []
        : ['Start the server with TRUSTED_PROXIES=127.0.0.1,::1, or all clients share one rate limit.']),
    ],
    bodyMegabytes: Math.ceil(server.largestBodyBytes / 1024 / 1024) + 1,
    keepAliveSeconds: Math.floor(server.idleSeconds / 2),
    answerSeconds: server.idleSeconds * 2,
    patienceSeconds: Math.ceil(server.drainMs / 1_000) * 2,
  }
}

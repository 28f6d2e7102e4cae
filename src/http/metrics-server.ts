import { listeningUrl } from './server.ts'

type MetricsServerOptions = {
  readonly host: string
  readonly port: number
  readonly contentType: string
  readonly render: () => Promise<string>
  readonly failed: (cause: unknown) => void
}

export type MetricsServer = { readonly url: string; stop(): Promise<void> }

/** The metrics could not have the port that METRICS_LISTEN gives them; the cause says why. */
export class MetricsPortUnusable extends Error {
  constructor(options: { readonly cause: unknown }) {
    super('The address in METRICS_LISTEN cannot be used.', options)
    this.name = 'MetricsPortUnusable'
  }
}

/**
 * Serves `/metrics` on a port of its own, and nothing else. It does not keep the process from ending.
 * @throws MetricsPortUnusable
 */
export const startMetricsServer = ({
  host,
  port,
  contentType,
  render,
  failed,
}: MetricsServerOptions): MetricsServer => {
  const answer = async (request: Request): Promise<Response> => {
    if (new URL(request.url).pathname !== '/metrics') return new Response('Only /metrics is here.\n', { status: 404 })
    if (request.method !== 'GET') return new Response('Use GET.\n', { status: 405, headers: { allow: 'GET' } })
    return new Response(await render(), { headers: { 'content-type': contentType } })
  }
  const listen = () =>
    Bun.serve({
      hostname: host,
      port,
      development: false,
      reusePort: false, // outside development Bun would otherwise share the port with another program
      maxRequestBodySize: 1_024,
      fetch: answer,
      error: (cause) => {
        failed(cause)
        return new Response('The metrics could not be read.\n', { status: 500 })
      },
    })
  try {
    const server = listen()
    server.unref()
    return { url: listeningUrl(host, server.port ?? port), stop: async () => await server.stop(true) }
  } catch (cause) {
    throw new MetricsPortUnusable({ cause })
  }
}

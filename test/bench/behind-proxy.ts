import { freePort } from '../clients/support/free-port.ts'
import { startCaddy, startNginx } from '../cli/support/printed-proxy.ts'
import { run } from '../cli/support/run.ts'
import type { Stage } from './phase.ts'
import { cores, pinned } from './processes.ts'

export const proxyNames = ['nginx', 'caddy'] as const
export type ProxyName = (typeof proxyNames)[number]

const paths = { nginx: Bun.which('nginx') ?? Bun.which('/usr/sbin/nginx'), caddy: Bun.which('caddy') } as const
const start = { nginx: startNginx, caddy: startCaddy } as const

/**
 * Measures the platform behind a proxy with the configuration of `app-platform print`, without TLS. The proxy
 * shares the core of the load, so rates are lower than on a machine with more cores; the processor time is that of the
 * server alone. Null when the proxy is not installed.
 */
export const behindProxy = async <T>(
  name: ProxyName,
  stage: Stage,
  play: (stage: Stage) => Promise<T>,
): Promise<T | null> => {
  const path = paths[name]
  if (path === null) return null
  const port = freePort()
  // The host that the load asks for: Caddy answers other hosts itself.
  const origin = `http://localhost:${port}`
  const { stdout } = await run(['print', name, '--port', String(stage.platform.port), '--public-url', origin])
  const proxy = await start[name](pinned(cores.load, [path]), stdout, origin)
  try {
    return await play({ ...stage, platform: { ...stage.platform, port } })
  } finally {
    await proxy.stop()
  }
}

import { join } from 'node:path'
import { programAt } from '../../support/needs.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import type { Certificates } from './certificates.ts'

/** The address from which the proxy connects. It differs from those of clients on this machine. */
export const proxyAddress = '127.0.0.9'

export type ReverseProxy = { stop(): Promise<void> }
type ProxyOptions = { readonly port: number; readonly upstream: string; readonly certificates: Certificates }

const running = new Set<Bun.Subprocess>()
process.once('exit', () => running.forEach((proxy) => proxy.kill('SIGKILL')))

/**
 * nginx in front of the server, with TLS, as the guide to proxies configures it.
 * @throws Error with the output of nginx, or with a sentence that says how to install it
 */
export const startReverseProxy = async (options: ProxyOptions): Promise<ReverseProxy> => {
  const nginx = programAt('nginx')
  const folder = temporaryFolder()
  const file = join(folder, 'nginx.conf')
  await Bun.write(file, configuration(folder, options))
  const child = Bun.spawn([nginx, '-p', folder, '-c', file, '-e', 'stderr'], { stdout: 'ignore', stderr: 'pipe' })
  running.add(child)
  const said = new Response(child.stderr).text()
  await untilListening(options.port, async () => {
    if (child.exitCode !== null) throw new Error(`nginx did not start: ${await said}`)
  })
  return {
    stop: async () => {
      child.kill('SIGTERM')
      await child.exited
      running.delete(child)
    },
  }
}

const configuration = (folder: string, { port, upstream, certificates }: ProxyOptions): string => `
daemon off;
master_process off;
pid ${folder}/nginx.pid;
events {}
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  server {
    listen 127.0.0.1:${port} ssl http2;
    server_name localhost;
    ssl_certificate ${certificates.certificate};
    ssl_certificate_key ${certificates.key};
    client_max_body_size 17m;
    location / {
      proxy_pass ${upstream};
      proxy_bind ${proxyAddress};
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    }
  }
}
`

const untilListening = async (port: number, stillStarting: () => Promise<void>): Promise<void> => {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    await stillStarting()
    if (await isListening(port)) return
    await Bun.sleep(25)
  }
  throw new Error('nginx did not listen within five seconds')
}

const isListening = async (port: number): Promise<boolean> => {
  try {
    const socket = await Bun.connect({ hostname: '127.0.0.1', port, socket: { data: () => undefined } })
    socket.end()
    return true
  } catch {
    return false
  }
}

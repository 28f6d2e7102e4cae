import { connect } from 'node:net'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { makeCertificates } from '../../clients/support/certificates.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const running = new Set<Bun.Subprocess>()
process.once('exit', () => running.forEach((proxy) => proxy.kill('SIGKILL')))

export type PrintedProxy = {
  /** Fetches as a client that trusts the certificate. */
  fetch(path: string, options?: RequestInit): Promise<Response>
  /** The status of the answer to a GET of this path, which is sent as it is. */
  statusOf(path: string): Promise<number>
  /** Ends it; returns all that it has logged. */
  stop(): Promise<string>
}

/** nginx with a printed site, but with test certificates and on IPv4 only. `command` starts it. */
export const startNginx = async (nginx: readonly string[], site: string, origin: string): Promise<PrintedProxy> => {
  const folder = temporaryFolder()
  const certificates = await makeCertificates()
  const here = site
    .replaceAll(/listen \[::\].*\n/g, '')
    .replaceAll('/var/log/nginx/', `${folder}/`)
    .replace(/ssl_certificate .*;/, `ssl_certificate ${certificates.certificate};`)
    .replace(/ssl_certificate_key .*;/, `ssl_certificate_key ${certificates.key};`)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  )
  const around = `daemon off;\nmaster_process off;\npid ${folder}/pid;\nevents {}\nhttp {\naccess_log off;\n${temporary.join('\n')}\n${here}}\n`
  await Bun.write(join(folder, 'nginx.conf'), around)
  const ca = await Bun.file(certificates.authority).text()
  const proxy = await startProxy([...nginx, '-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr'], origin, ca)
  const logs = ['access.log', 'error.log'].map((name) => join(folder, name))
  return {
    ...proxy,
    stop: async () => [await proxy.stop(), ...(await Promise.all(logs.map((log) => Bun.file(log).text())))].join('\n'),
  }
}

/** Caddy with a printed site, without its admin endpoint. */
export const startCaddy = async (caddy: readonly string[], site: string, origin: string): Promise<PrintedProxy> => {
  const folder = temporaryFolder()
  const file = join(folder, 'Caddyfile')
  await Bun.write(file, `{\n\tadmin off\n}\n${site}`)
  return await startProxy([...caddy, 'run', '--adapter', 'caddyfile', '--config', file], origin, null, { HOME: folder })
}

const startProxy = async (
  command: readonly string[],
  origin: string,
  ca: string | null,
  env: Readonly<Record<string, string>> = {},
): Promise<PrintedProxy> => {
  const child = Bun.spawn([...command], { env, stdout: 'ignore', stderr: 'pipe' })
  running.add(child)
  const said = new Response(child.stderr).text()
  const ask = async (path: string, options: RequestInit = {}) =>
    await fetch(origin + path, { ...options, redirect: 'manual', ...(ca === null ? {} : { tls: { ca } }) })
  for (let attempt = 0; attempt < 200; attempt += 1) {
    if (child.exitCode !== null) throw new Error(`${command[0]} did not start: ${await said}`)
    const answered = await ask('/healthz').catch(() => null)
    if (answered?.status === 200) break
    await Bun.sleep(25)
  }
  const statusOf = async (path: string): Promise<number> => {
    const { hostname: host, port, protocol } = new URL(origin)
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    const place = { host, port: Number(port) }
    const socket = protocol === 'https:' ? connectTls({ ...place, ca: ca ?? '', servername: host }) : connect(place)
    socket.on('data', (bytes) => resolve(Number(String(bytes).split(' ')[1])))
    socket.on('error', reject)
    socket.on('close', () => reject(new Error(`${path} got no answer.`)))
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}:${port}\r\nConnection: close\r\n\r\n`)
    return await promise.finally(() => socket.destroy())
  }
  return {
    fetch: ask,
    statusOf,
    stop: async () => {
      child.kill('SIGTERM')
      await child.exited
      running.delete(child)
      return await said
    },
  }
}

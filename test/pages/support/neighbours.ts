import { join } from 'node:path'
import { temporaryFolder } from '../../support/temporary-folder.ts'

export type Neighbour = (request: Request) => Response | Promise<Response>

const answers = new Map<string, Neighbour>()
let running: Bun.Server<undefined> | null = null

/**
 * Says what `https://<host>/…` answers in the tests' Chromium, for a host under `.example`: an app that a code is sent
 * to, a site that attacks, a proxy in front of the server. Without it, such a host answers a page with its own address.
 */
export const settleNeighbour = (host: string, answer: Neighbour): void => {
  answers.set(host, answer)
}

/** Every host under `.example`, over HTTPS, on one port of this machine. */
export const startNeighbours = async (): Promise<{ readonly port: number }> => {
  const { key, cert } = await selfSigned()
  running ??= Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    tls: { key, cert },
    fetch: (request) => (answers.get(new URL(request.url).hostname) ?? plainPage)(request),
  })
  return { port: running.port ?? 0 }
}

export const killNeighbours = (): void => {
  void running?.stop(true)
  running = null
  answers.clear()
}

const plainPage: Neighbour = ({ url }) =>
  new Response(
    `<!doctype html><html lang="en"><title>${new URL(url).hostname}</title><link rel="icon" href="data:,"><h1>A neighbour</h1>`,
    { headers: { 'content-type': 'text/html; charset=utf-8' } },
  )

/** A new key and certificate, which Chromium accepts. */
const selfSigned = async (): Promise<{ readonly key: Bun.BunFile; readonly cert: Bun.BunFile }> => {
  const folder = temporaryFolder()
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const openssl = ['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const made = Bun.spawn([...openssl, '-subj', '/CN=neighbours', '-days', '2', '-keyout', key, '-out', cert], {
    stdout: 'ignore',
    stderr: 'pipe',
  })
  if ((await made.exited) !== 0) throw new Error(`openssl: ${await new Response(made.stderr).text()}`)
  return { key: Bun.file(key), cert: Bun.file(cert) }
}

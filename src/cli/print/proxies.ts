import { servedApiVersion } from '../../domain/api-version.ts'
import { messageOf } from '../../domain/errors.ts'
import { checkPath, contractPath, formPaths, importPath, programPaths } from '../../http/paths.ts'
import { UsageError } from '../output.ts'
import caddyTemplate from './caddy.txt' with { type: 'text' }
import { type Deployment, fill } from './deployment.ts'
import nginxTemplate from './nginx.txt' with { type: 'text' }

/** What a proxy in front of the server must know. */
export type ProxyTerms = ReturnType<typeof proxyTerms>

/** @throws UsageError without PUBLIC_URL, which names the site */
export const proxyTerms = (
  { publicUrl, upstream, trustsProxies }: Deployment,
  server: {
    readonly largestBodyBytes: number
    readonly largestImportBytes: number
    readonly idleSeconds: number
    readonly drainMs: number
  },
) => {
  if (publicUrl === null) throw new UsageError('PUBLIC_URL is not set: give the origin that clients will see.')
  return {
    publicUrl,
    upstream,
    /** Comments for the file's maintainer. */
    notes: [
      `In front of App Platform, which listens on ${upstream}.`,
      ...(trustsProxies
        ? []
        : ['Start the server with TRUSTED_PROXIES=127.0.0.1,::1, or all clients share one rate limit.']),
    ],
    /** Above the server's own limit, so that the server itself refuses larger bodies. */
    bodyMegabytes: megabytesAbove(server.largestBodyBytes),
    importMegabytes: megabytesAbove(server.largestImportBytes),
    /** Shorter than the server's idle timeout, so that no request is sent on a connection that is being closed. */
    keepAliveSeconds: Math.floor(server.idleSeconds / 2),
    /** Longer than the server's slowest answer. */
    answerSeconds: server.idleSeconds * 2,
    /** Longer than a restart takes: drain and start. */
    patienceSeconds: Math.ceil(server.drainMs / 1_000) * 2,
  }
}

const megabytesAbove = (bytes: number): number => Math.ceil(bytes / 1024 / 1024) + 1

/** A site for nginx, to be included inside `http`. */
export const nginxSite = (terms: ProxyTerms): string =>
  fill(nginxTemplate, {
    ...holesOf(terms),
    programPaths: programPaths.source,
    formPaths: formPaths.map((path) => `${path} @app_platform_form;`).join('\n'),
    contractPath,
    version: servedApiVersion.name,
    listening: listening(terms.publicUrl).join('\n'),
    envelope: `{"error":{"code":"unavailable","message":"${messageOf('unavailable')}","requestId":"req_$request_id"}}`,
    headers: unavailableHeaders,
  })

/** A site for Caddy 2, which gets its own certificate and sets X-Forwarded-For from the connection alone. */
export const caddyfile = (terms: ProxyTerms): string => fill(caddyTemplate, holesOf(terms))

/** The same as a file that the Caddyfile of a machine imports: Caddy refuses a site that it finds twice. */
export const caddySite = ({ notes, ...terms }: ProxyTerms): string =>
  caddyfile({
    ...terms,
    notes: [
      'Write this to /etc/caddy/app-platform.caddy, and name it once in /etc/caddy/Caddyfile: import app-platform.caddy',
      'Do not append it to the Caddyfile: the second time, Caddy would refuse it as an ambiguous site definition.',
      ...notes,
    ],
  })

const holesOf = ({ notes, upstream, publicUrl, ...figures }: ProxyTerms): Readonly<Record<string, string>> => ({
  notes: notes.join('\n'),
  upstream,
  origin: publicUrl.origin,
  hostname: publicUrl.hostname,
  importPath,
  checkPath,
  ...Object.fromEntries(Object.entries(figures).map(([name, figure]) => [name, String(figure)])),
})

/** Of what nginx answers when it cannot reach the server. The server's own errors pass through unchanged. */
const unavailableHeaders = `add_header Retry-After 2 always;
add_header Cache-Control no-store always;
add_header X-Content-Type-Options nosniff always;
add_header X-Request-Id req_$request_id always;
add_header X-Service-Api-Version $app_platform_version always;`

const listening = ({ protocol, port, hostname }: URL): readonly string[] => {
  if (protocol === 'http:') return listen(port || '80', '')
  return [
    ...listen(port || '443', ' ssl http2'),
    `ssl_certificate /etc/letsencrypt/live/${hostname}/fullchain.pem;`,
    `ssl_certificate_key /etc/letsencrypt/live/${hostname}/privkey.pem;`,
    'ssl_protocols TLSv1.2 TLSv1.3;',
  ]
}

const listen = (port: string, how: string): readonly string[] => [`listen ${port}${how};`, `listen [::]:${port}${how};`]

import { servedApiVersion } from '../../domain/api-version.ts'
import { messageOf } from '../../domain/errors.ts'
import { checkPath, contractPath, formPaths, importPath, programPaths } from '../../http/paths.ts'
import { UsageError } from '../output.ts'
import type { Deployment } from './deployment.ts'

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
export const nginxSite = (terms: ProxyTerms): string => `# ${terms.notes.join('\n# ')}
# While the server is being restarted, programs get its error envelope and people get a page, with 503 and Retry-After.
map $uri $app_platform_down {
	default @app_platform_page;
	'~${programPaths.source}' @app_platform_envelope;
	${formPaths.map((path) => `${path} @app_platform_form;`).join('\n\t')}
}

# Only answers of the contract name its version; an empty header is not sent.
map $uri $app_platform_version {
	default "";
	'~^${contractPath}(?:/|$)' ${servedApiVersion.name};
}

# Links in mails and redirects to apps have secrets in their query. So neither the query nor the Referer is logged.
log_format app_platform '$remote_addr [$time_iso8601] "$request_method $uri $server_protocol" $status $body_bytes_sent '
	'$request_time upstream $upstream_status $upstream_response_time "$http_user_agent" $sent_http_x_request_id';

upstream app_platform {
	server ${terms.upstream};
	keepalive 16;
	keepalive_timeout ${terms.keepAliveSeconds}s;
}

server {
	server_name ${terms.publicUrl.hostname};
${listening(terms.publicUrl).join('\n')}
	server_tokens off;
	access_log /var/log/nginx/access.log app_platform;
	# nginx adds the whole request to each error. The access log says what became of the request.
	error_log /var/log/nginx/error.log emerg;
	client_max_body_size ${terms.bodyMegabytes}m;
	large_client_header_buffers 8 16k;

	proxy_http_version 1.1;
	proxy_set_header Connection "";
	proxy_set_header Host $host;
	# Set, not appended: addresses that the client claims must not count.
	proxy_set_header X-Forwarded-For $remote_addr;
	proxy_read_timeout ${terms.answerSeconds}s;
	proxy_send_timeout ${terms.answerSeconds}s;
	# If the server has just closed the connection, try another one, except for a POST that may have been carried out.
	proxy_next_upstream error;
	error_page 502 504 = $app_platform_down;

	location / {
		proxy_pass http://app_platform;
	}
	# The only call with a larger body.
	location = ${importPath} {
		proxy_pass http://app_platform;
		client_max_body_size ${terms.importMegabytes}m;
	}

	location @app_platform_envelope {
${unavailable('application/json', envelope)}
	}
	location @app_platform_form {
${unavailable('application/json', '{"error":"temporarily_unavailable","error_description":"The service is being restarted."}')}
	}
	location @app_platform_page {
${unavailable('text/html; charset=utf-8', restartPage)}
	}

	# Metrics are for the operator, not for the internet.
	location = /metrics {
		return 404;
	}
}

# To let apps call an API of yours, put these lines into its server block, and name its address and the scope it needs:
${commented(nginxGuard)}
`

/** Lines that a reader takes over by removing the sign in front. */
const commented = (lines: string): string => lines.replaceAll(/^/gm, '#')

const nginxGuard = `location /your-api/ {
	auth_request /app-platform-check;
	# Set for every request, so that nobody can send headers of these names past the check.
	auth_request_set $app_platform_app $upstream_http_x_app_id;
	auth_request_set $app_platform_user $upstream_http_x_user_external_id;
	auth_request_set $app_platform_scope $upstream_http_x_scope;
	proxy_set_header X-App-Id $app_platform_app;
	proxy_set_header X-User-External-Id $app_platform_user;
	proxy_set_header X-Scope $app_platform_scope;
	proxy_pass http://YOUR_API;
}
location = /app-platform-check {
	internal;
	proxy_pass http://app_platform${checkPath}?scope=site:read;
	proxy_http_version 1.1;
	proxy_set_header Connection "";
	proxy_set_header X-Forwarded-For $remote_addr;
	proxy_set_header Content-Length "";
	proxy_pass_request_body off;
}`

const envelope = `{"error":{"code":"unavailable","message":"${messageOf('unavailable')}","requestId":"req_$request_id"}}`

const restartPage =
  '<!doctype html><html lang="en"><meta charset="utf-8"><title>Back in a moment</title><h1>Back in a moment</h1><p>The server is being restarted. Try again in a few seconds.</p>'

/** Used only when nginx cannot reach the server. The server's own errors pass through unchanged. */
const unavailable = (type: string, body: string): string => `		default_type "${type}";
		add_header Retry-After 2 always;
		add_header Cache-Control no-store always;
		add_header X-Content-Type-Options nosniff always;
		add_header X-Request-Id req_$request_id always;
		add_header X-Service-Api-Version $app_platform_version always;
		return 503 '${body}';`

const listening = ({ protocol, port, hostname }: URL): readonly string[] => {
  if (protocol === 'http:') return listen(port || '80', '')
  return [
    ...listen(port || '443', ' ssl http2'),
    `	ssl_certificate /etc/letsencrypt/live/${hostname}/fullchain.pem;`,
    `	ssl_certificate_key /etc/letsencrypt/live/${hostname}/privkey.pem;`,
    '	ssl_protocols TLSv1.2 TLSv1.3;',
  ]
}

const listen = (port: string, how: string): readonly string[] => [`	listen ${port}${how};`, `	listen [::]:${port}${how};`]

/** A site for Caddy 2, which gets its own certificate and sets X-Forwarded-For from the connection alone. */
export const caddyfile = (terms: ProxyTerms): string => `# ${terms.notes.join('\n# ')}
${terms.publicUrl.origin} {
	# Links in mails and redirects to apps have secrets in their query. So neither the query nor any header is logged.
	log {
		format filter {
			wrap json
			fields {
				request>uri regexp \\?.* ""
				request>headers delete
				resp_headers delete
			}
		}
	}
	# Without an answer of its own, Caddy would log the whole request of each error.
	handle_errors {
		respond {err.status_code}
	}

	# Metrics are for the operator, not for the internet.
	respond /metrics 404

	# The only call with a larger body.
	@import path ${importPath}
	@others not path ${importPath}
	request_body @import {
		max_size ${terms.importMegabytes}MiB
	}
	request_body @others {
		max_size ${terms.bodyMegabytes}MiB
	}
	# Caddy sets X-Forwarded-For to the address of its client, and drops the value that the client sent.
	reverse_proxy ${terms.upstream} {
		# Caddy learns that the server is stopping and holds requests until it is back. A restart loses no request.
		health_uri /readyz?for=proxy
		health_interval 1s
		lb_try_duration ${terms.patienceSeconds}s
		lb_try_interval 100ms
		# Requests that may have reached the server are sent again only if they change nothing.
		lb_retry_match {
			method GET HEAD
		}
		# Requests that were not sent yet may wait, whatever they do.
		lb_retry_match {
			expression \`{http.reverse_proxy.upstream.hostport} == null || {http.reverse_proxy.upstream.hostport} == ""\`
		}
		transport http {
			keepalive ${terms.keepAliveSeconds}s
			response_header_timeout ${terms.answerSeconds}s
		}
	}
}

# To let apps call an API of yours, put these lines into its site, and name its address and the scope it needs:
${commented(caddyGuard(terms.upstream))}
`

const caddyGuard = (upstream: string): string => `handle /your-api/* {
	route {
		# Nobody can send headers of these names past the check; older versions of Caddy would let them through. Some programs take
		# X_App_Id for X-App-Id, and a Connection header that names them would make Caddy drop them.
		@dropping header_regexp Connection (?i)x-(app-id|user-external-id|scope)
		respond @dropping 400
		request_header -*_*
		request_header -X-App-Id
		request_header -X-User-External-Id
		request_header -X-Scope
		forward_auth ${upstream} {
			uri ${checkPath}?scope=site:read
			copy_headers X-App-Id X-User-External-Id X-Scope
		}
		reverse_proxy YOUR_API
	}
}`

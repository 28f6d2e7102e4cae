import { servedApiVersion } from '../../domain/api-version.ts'
import { messageOf } from '../../domain/errors.ts'
import { contractPath, programPaths } from '../../http/routes/paths.ts'
import { formPaths } from '../../http/standard/paths.ts'
import type { ProxyTerms } from './proxy-terms.ts'

/** A site of nginx, to be included inside `http`. */
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

upstream app_platform {
	server ${terms.upstream};
	keepalive 16;
	keepalive_timeout ${terms.keepAliveSeconds}s;
}

server {
	server_name ${serverName(terms.publicUrl)};
${listening(terms.publicUrl).join('\n')}
	server_tokens off;
	client_max_body_size ${terms.bodyMegabytes}m;
	large_client_header_buffers 8 16k;

	location / {
		proxy_pass http://app_platform;
		proxy_http_version 1.1;
		proxy_set_header Connection "";
		proxy_set_header Host $host;
		# Set, not appended to what the client sent: whatever it claims to be must not count.
		proxy_set_header X-Forwarded-For $remote_addr;
		proxy_read_timeout ${terms.answerSeconds}s;
		proxy_send_timeout ${terms.answerSeconds}s;
		# A connection that the server has just closed is replaced, but never for a POST that may have been carried out.
		proxy_next_upstream error;
		error_page 502 504 = $app_platform_down;
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

	# Figures for whoever runs this, not for the internet.
	location = /metrics {
		return 404;
	}
}
`

const envelope = `{"error":{"code":"unavailable","message":"${messageOf('unavailable')}","requestId":"req_$request_id"}}`

const restartPage =
  '<!doctype html><html lang="en"><meta charset="utf-8"><title>Back in a moment</title><h1>Back in a moment</h1><p>The server is being restarted. Try again in a few seconds.</p>'

/** Only what nginx itself could not reach: the server's own errors pass through it as they are. */
const unavailable = (type: string, body: string): string => `		default_type "${type}";
		add_header Retry-After 2 always;
		add_header Cache-Control no-store always;
		add_header X-Content-Type-Options nosniff always;
		add_header X-Request-Id req_$request_id always;
		add_header X-Service-Api-Version $app_platform_version always;
		return 503 '${body}';`

const serverName = ({ hostname }: URL): string => hostname

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

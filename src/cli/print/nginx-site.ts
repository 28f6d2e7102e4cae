import type { ProxyTerms } from './proxy-terms.ts'

/** A site of nginx, to be included inside `http`. */
export const nginxSite = (terms: ProxyTerms): string => `# ${terms.notes.join('\n# ')}
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
		# An answer that was lost may have been given: only the client knows whether to ask again.
		proxy_next_upstream off;
	}

	# Figures for whoever runs this, not for the internet.
	location = /metrics {
		return 404;
	}
}
`

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

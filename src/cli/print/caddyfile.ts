import type { ProxyTerms } from './proxy-terms.ts'

/** A site of Caddy 2, which gets its certificate by itself and sets X-Forwarded-For from the connection alone. */
export const caddyfile = (terms: ProxyTerms): string => `# ${terms.notes.join('\n# ')}
${terms.publicUrl.origin} {
	# Figures for whoever runs this, not for the internet.
	respond /metrics 404

	request_body {
		max_size ${terms.bodyMegabytes}MiB
	}
	# X-Forwarded-For: Caddy puts the address of its client there and drops what that client has sent.
	reverse_proxy ${terms.upstream} {
		transport http {
			keepalive ${terms.keepAliveSeconds}s
			response_header_timeout ${terms.answerSeconds}s
		}
	}
}
`

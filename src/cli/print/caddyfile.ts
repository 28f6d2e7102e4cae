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
		# Caddy is told before the server stops, and lets requests wait until it is back: a restart loses none.
		health_uri /readyz?for=proxy
		health_interval 1s
		lb_try_duration ${terms.patienceSeconds}s
		lb_try_interval 100ms
		# What may have reached the server is sent again only if that changes nothing.
		lb_retry_match {
			method GET HEAD
		}
		# What was sent nowhere yet may wait, whatever it is.
		lb_retry_match {
			expression \`{http.reverse_proxy.upstream.hostport} == null || {http.reverse_proxy.upstream.hostport} == ""\`
		}
		transport http {
			keepalive ${terms.keepAliveSeconds}s
			response_header_timeout ${terms.answerSeconds}s
		}
	}
}
`

import { Auth } from '@auth/core'
import { appPlatform } from './auth-js-provider.mjs'
import { listening } from './settings.mjs'

const config = {
  providers: [appPlatform],
  basePath: '/api/auth',
  secret: 'a secret of the test that is long enough',
  trustHost: true,
  callbacks: {
    jwt: ({ token, account }) =>
      account ? { ...token, sub: account.providerAccountId, accessToken: account.access_token } : token,
    session: ({ session, token }) => ({ ...session.user, sub: token.sub, accessToken: token.accessToken }),
  },
}

// A server takes the address from its proxy.
const asSeenOutside = (request) => {
  const { pathname, search } = new URL(request.url)
  return new Request(`https://${request.headers.get('x-forwarded-host')}${pathname}${search}`, request)
}
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: async (request) => await Auth(asSeenOutside(request), config),
})
listening(server.port)

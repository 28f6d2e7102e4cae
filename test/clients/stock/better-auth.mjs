import { APP_URL, CLIENT_ID, CLIENT_SECRET, ISSUER, listening } from './settings.mjs'

// #region guide
import { betterAuth } from 'better-auth'
import { genericOAuth } from 'better-auth/plugins'

const auth = betterAuth({
  baseURL: APP_URL,
  secret: process.env.BETTER_AUTH_SECRET,
  plugins: [
    genericOAuth({
      config: [
        {
          providerId: 'app-platform',
          clientId: CLIENT_ID,
          clientSecret: CLIENT_SECRET,
          authorizationUrl: `${ISSUER}/oauth/authorize`,
          tokenUrl: `${ISSUER}/oauth/token`,
          userInfoUrl: `${ISSUER}/oauth/userinfo`,
          scopes: ['profile:read', 'profile.email:read'],
          pkce: true,
          accountSubject: ({ profile }) => profile.sub,
        },
      ],
    }),
  ],
})
// #endregion

const begin = async ({ headers }) => {
  const body = { provider: 'app-platform', callbackURL: '/done' }
  const { headers: answered, response } = await auth.api.signInSocial({ body, headers, returnHeaders: true })
  const sent = new Headers({ location: response.url })
  for (const cookie of answered.getSetCookie()) sent.append('set-cookie', cookie)
  return new Response(null, { status: 303, headers: sent })
}

const done = async ({ headers }) => {
  const session = await auth.api.getSession({ headers })
  if (session === null) return Response.json({ error: 'nobody' }, { status: 401 })
  const [account] = await auth.api.listUserAccounts({ headers })
  // Two requests of the app refresh at once. Either may also come after the other has ended: then it refreshes once more.
  await Promise.all([1, 2].map(() => auth.api.refreshToken({ body: { accountId: account.id }, headers })))
  const { accessToken } = await auth.api.getAccessToken({ body: { accountId: account.id }, headers })
  const { name, email } = session.user
  return Response.json({ sub: account.accountId, name, email, accessToken })
}

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  routes: { '/login': begin, '/done': done, '/api/auth/*': (request) => auth.handler(request) },
})
listening(server.port)

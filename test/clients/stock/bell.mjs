import { APP_URL, CLIENT_ID, CLIENT_SECRET, ISSUER, listening } from './settings.mjs'

// #region guide
import Bell from '@hapi/bell'
import Hapi from '@hapi/hapi'

const server = Hapi.server({ host: '127.0.0.1', port: process.env.PORT })
await server.register(Bell)
server.auth.strategy('app-platform', 'bell', {
  provider: {
    protocol: 'oauth2',
    useParamsAuth: true,
    auth: `${ISSUER}/oauth/authorize`,
    token: `${ISSUER}/oauth/token`,
    scope: ['profile:read', 'profile.email:read'],
    pkce: 'S256',
    profile: async (credentials, params, get) => {
      credentials.profile = await get(`${ISSUER}/oauth/userinfo`)
    },
  },
  clientId: CLIENT_ID,
  clientSecret: CLIENT_SECRET,
  password: process.env.COOKIE_PASSWORD,
  location: APP_URL,
  forceHttps: true,
})
// #endregion

server.route({
  method: 'GET',
  path: '/login',
  options: { auth: { strategy: 'app-platform', mode: 'try' } },
  handler: ({ auth: { isAuthenticated, credentials, error } }) =>
    isAuthenticated ? { ...credentials.profile, accessToken: credentials.token } : { error: error.message },
})
await server.start()
listening(server.info.port)

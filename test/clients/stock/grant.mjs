import { APP_URL, CLIENT_ID, CLIENT_SECRET, ISSUER, listening } from './settings.mjs'

// #region guide
import express from 'express'
import session from 'express-session'
import grant from 'grant'

const app = express()
app.use(session({ secret: process.env.SESSION_SECRET, saveUninitialized: true, resave: false }))
app.use(
  grant.express({
    defaults: { origin: APP_URL, transport: 'session', state: true },
    'app-platform': {
      authorize_url: `${ISSUER}/oauth/authorize`,
      access_url: `${ISSUER}/oauth/token`,
      profile_url: `${ISSUER}/oauth/userinfo`,
      oauth: 2,
      key: CLIENT_ID,
      secret: CLIENT_SECRET,
      scope: ['profile:read', 'profile.email:read'],
      scope_delimiter: ' ',
      pkce: true,
      response: ['tokens', 'profile'],
      callback: '/done',
    },
  }),
)
// #endregion

app.get('/done', (request, response) => {
  const { access_token: accessToken, profile, error } = request.session.grant.response
  response.json(error === undefined ? { ...profile, accessToken } : { error })
})
const server = app.listen(0, '127.0.0.1', () => listening(server.address().port))

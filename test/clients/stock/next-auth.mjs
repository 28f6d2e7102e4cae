import express from 'express'
import nextAuth from 'next-auth'
import { appPlatform } from './auth-js-provider.mjs'
import { listening } from './settings.mjs'

const options = {
  providers: [appPlatform],
  secret: 'a secret of the test that is long enough',
  callbacks: {
    jwt: ({ token, account }) => (account ? { ...token, accessToken: account.access_token } : token),
    session: ({ session, token }) => ({ ...session.user, sub: token.sub, accessToken: token.accessToken }),
  },
}

// Next.js calls the handler with the rest of the path and the cookies; Express does the rest in the same way.
const app = express()
app.use(express.urlencoded())
app.all('/api/auth/*rest', (request, response) => {
  const cookies = (request.headers.cookie ?? '')
    .split('; ')
    .map((pair) => [pair.slice(0, pair.indexOf('=')), decodeURIComponent(pair.slice(pair.indexOf('=') + 1))])
  const query = { ...request.query, nextauth: request.params.rest }
  const asked = {
    method: request.method,
    headers: request.headers,
    body: request.body,
    query,
    cookies: Object.fromEntries(cookies),
  }
  return nextAuth.default(asked, response, options)
})
const server = app.listen(0, '127.0.0.1', () => listening(server.address().port))

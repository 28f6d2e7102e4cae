import { Provider } from 'oidc-provider'

const { PORT, REDIRECT_URI, AFTER_SIGN_OUT, CLIENT_SECRET } = process.env

/** Everybody exists. The login says what is true of them. */
const findAccount = (_, id) => ({
  accountId: id,
  claims: () => ({
    sub: id,
    name: `Person ${id}`,
    email: `${id}@id.example`,
    email_verified: id !== 'unverified',
  }),
})

/** The pages of the provider, without files of other hosts. */
const form = (uid, fields) =>
  `<!doctype html><html lang="en"><title>Example ID</title><h1>Example ID</h1><form method="post" action="/interaction/${uid}">${fields}<button type="submit">Continue</button></form></html>`

const provider = new Provider(`http://localhost:${PORT}`, {
  clients: [
    {
      client_id: 'platform',
      client_secret: CLIENT_SECRET,
      redirect_uris: [REDIRECT_URI],
      post_logout_redirect_uris: [AFTER_SIGN_OUT],
    },
  ],
  findAccount,
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
  cookies: { keys: ['a key of the test'] },
  pkce: { required: () => true },
  features: {
    devInteractions: { enabled: false },
    rpInitiatedLogout: {
      logoutSource: (context, logout) => {
        context.body = `<!doctype html><html lang="en"><title>Example ID</title><h1>Example ID</h1>${logout}<button type="submit" form="op.logoutForm" name="logout" value="yes">Yes, sign me out</button></html>`
      },
    },
  },
  interactions: { url: (_, { uid }) => `/interaction/${uid}` },
})

provider.use(async (context, next) => {
  if (!context.path.startsWith('/interaction/')) return await next()
  const { uid, prompt, params, session } = await provider.interactionDetails(context.req, context.res)
  if (context.method === 'GET') {
    context.type = 'html'
    context.body = form(uid, prompt.name === 'login' ? '<input name="login" aria-label="Login">' : '')
    return
  }
  let text = ''
  for await (const chunk of context.req) text += chunk
  const login = new URLSearchParams(text).get('login')
  if (prompt.name === 'login') {
    return await provider.interactionFinished(context.req, context.res, { login: { accountId: login } })
  }
  const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id })
  grant.addOIDCScope('openid email profile')
  const consent = { grantId: await grant.save() }
  return await provider.interactionFinished(context.req, context.res, { consent }, { mergeWithLastSubmission: true })
})

provider.listen(Number(PORT), '127.0.0.1')

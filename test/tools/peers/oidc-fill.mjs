import { createHash } from 'node:crypto'
import { appScopes, openProvider, plainScopes, scopes } from './oidc.mjs'

/*
 * Prepares tokens or codes with the models that oidc-provider itself issues them by. Arguments: folder, `tokens` or
 * `codes`, how many, the verifier of the codes. Prints them as JSON.
 */
const [, , folder, what, count, verifier] = process.argv
const { provider, store, client: registered } = await openProvider(folder, 'OFF', true)
const client = await provider.Client.find(registered.client_id)
const accountCount = 100
const perTransaction = 10_000

const inTransactions = async (total, work) => {
  for (let first = 0; first < total; first += perTransaction) {
    await store.begin()
    for (let index = first; index < Math.min(total, first + perTransaction); index += 1) await work(index)
    await store.commit()
  }
}

const accountId = (index) => `account-${index % accountCount}`

const newGrant = async (index, scope) => {
  const grant = new provider.Grant({ accountId: accountId(index), clientId: client.clientId })
  grant.addOIDCScope(scope)
  return await grant.save()
}

/** What a code and the tokens that it was exchanged for have in common. */
const ofGrant = async (index, scope) => ({
  accountId: accountId(index),
  client,
  grantId: await newGrant(index, scope),
  scope,
  authTime: Math.floor(Date.now() / 1000),
  expiresWithSession: false,
})

const tokens = async () => {
  await inTransactions(accountCount, async (index) => {
    await store.addAccount(accountId(index), `Member ${index}`, `member-${index}@example.com`)
  })
  const made = { appTokens: [], userTokens: [], refreshTokens: [] }
  await inTransactions(Number(count), async (index) => {
    made.appTokens.push(await new provider.ClientCredentials({ client, scope: appScopes }).save())
    const isForUserInfo = index % 2 === 0
    const common = { ...(await ofGrant(index, isForUserInfo ? scopes : plainScopes)), gty: 'authorization_code' }
    const refreshToken = await new provider.RefreshToken(common).save()
    const accessToken = await new provider.AccessToken(common).save()
    if (isForUserInfo) made.userTokens.push(accessToken)
    else made.refreshTokens.push(refreshToken)
  })
  return made
}

const codes = async () => {
  const made = []
  const codeChallenge = createHash('sha256').update(verifier).digest('base64url')
  const [redirectUri] = registered.redirect_uris
  await inTransactions(Number(count), async (index) => {
    const common = await ofGrant(index, plainScopes)
    const code = new provider.AuthorizationCode({ ...common, redirectUri, codeChallenge, codeChallengeMethod: 'S256' })
    made.push(await code.save())
  })
  return made
}

const { client_id: id, client_secret: secret, redirect_uris: redirectUris } = registered
const answer = what === 'codes' ? { codes: await codes() } : await tokens()
await store.close()
process.stdout.write(JSON.stringify({ client: { id, secret, redirectUri: redirectUris[0] }, ...answer }))

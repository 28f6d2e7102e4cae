import { createHash, randomInt } from 'node:crypto'
import { appScopes, openAuth, plainScopes, scopes } from './better-auth.mjs'

/*
 * Prepares tokens or codes by better-auth's own adapter, as its plugin would have written them. Arguments: folder,
 * `tokens` or `codes`, how many, the verifier of the codes. Prints them as JSON.
 */
const [, , folder, what, count, verifier] = process.argv
const { auth, database, client } = await openAuth(folder, 'OFF')
const { adapter, internalAdapter } = await auth.$context
const memberCount = 100

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const newToken = () => Array.from({ length: 32 }, () => letters[randomInt(letters.length)]).join('')
const hashOf = (text) => createHash('sha256').update(text).digest('base64url')
const inSeconds = (seconds) => new Date((Math.floor(Date.now() / 1000) + seconds) * 1000)

/** Users with a session each, which the tokens of a user are bound to. */
const members = async () => {
  const known = await adapter.count({ model: 'session' })
  for (let index = known; index < memberCount; index += 1) {
    const user = await internalAdapter.createUser({ name: `Member ${index}`, email: `member-${index}@example.com` })
    await internalAdapter.createSession(user.id)
  }
  return await adapter.findMany({ model: 'session', limit: memberCount })
}

const insertAccessToken = async (fields) => {
  const token = newToken()
  const data = {
    token: hashOf(token),
    clientId: client.id,
    createdAt: inSeconds(0),
    expiresAt: inSeconds(3600),
    ...fields,
  }
  await adapter.create({ model: 'oauthAccessToken', data })
  return token
}

const insertPair = async ({ id: sessionId, userId, createdAt }, scope) => {
  const token = newToken()
  const common = {
    sessionId,
    userId,
    authorizationCodeId: hashOf(newToken()),
    scopes: scope.split(' '),
  }
  const { id: refreshId } = await adapter.create({
    model: 'oauthRefreshToken',
    data: {
      ...common,
      token: hashOf(token),
      clientId: client.id,
      authTime: createdAt,
      createdAt: inSeconds(0),
      expiresAt: inSeconds(2592000),
    },
  })
  return { refreshToken: token, accessToken: await insertAccessToken({ ...common, refreshId }) }
}

const tokens = async (sessions) => {
  const made = { appTokens: [], userTokens: [], refreshTokens: [] }
  for (let index = 0; index < Number(count); index += 1) {
    made.appTokens.push(await insertAccessToken({ scopes: appScopes }))
    const isForUserInfo = index % 2 === 0
    const session = sessions[index % sessions.length]
    const { accessToken, refreshToken } = await insertPair(session, isForUserInfo ? scopes : plainScopes)
    if (isForUserInfo) made.userTokens.push(accessToken)
    else made.refreshTokens.push(refreshToken)
  }
  return made
}

const codes = async (sessions) => {
  const made = []
  const query = {
    response_type: 'code',
    client_id: client.id,
    redirect_uri: client.redirectUri,
    scope: plainScopes,
    state: 'bench',
    code_challenge: hashOf(verifier),
    code_challenge_method: 'S256',
  }
  for (let index = 0; index < Number(count); index += 1) {
    const { id: sessionId, userId, createdAt } = sessions[index % sessions.length]
    const code = newToken()
    const value = { type: 'authorization_code', query, userId, sessionId, authTime: createdAt.getTime() }
    await internalAdapter.createVerificationValue({
      identifier: hashOf(code),
      value: JSON.stringify(value),
      createdAt: inSeconds(0),
      updatedAt: inSeconds(0),
      expiresAt: inSeconds(600),
    })
    made.push(code)
  }
  return made
}

const sessions = await members()
const answer = what === 'codes' ? { codes: await codes(sessions) } : await tokens(sessions)
if (process.env.DATABASE_URL === undefined) {
  database.run('PRAGMA wal_checkpoint(TRUNCATE)')
  database.close()
} else {
  await database.end()
}
process.stdout.write(JSON.stringify({ client, ...answer }))

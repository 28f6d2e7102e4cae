// The same flow for every client library, so that one test can check them all. Prints a line with the URL for the browser,
// reads a line with the callback URL, and then prints one JSON object with all results.
import { createInterface } from 'node:readline'

/** The registration of the app and the scopes that it asks for. */
export const {
  ISSUER = '',
  CLIENT_ID = '',
  CLIENT_SECRET = '',
  REDIRECT_URI = '',
  SCOPE = '',
  APP_SCOPE = '',
} = process.env

const userUrl = new URL('/api/app-platform/oauth/me', ISSUER)
const appUrl = new URL('/api/app-platform/me', ISSUER)

/**
 * @typedef {{
 *   metadata: unknown, authorizationUrl: URL,
 *   exchange(callback: URL): Promise<any>, call(url: URL, token: string): Promise<Response>,
 *   refresh(token: string): Promise<any>, introspect(token: string): Promise<any>, revoke(token: string): Promise<void>,
 *   ownToken(): Promise<any>, ownTokenWith(secret: string): Promise<any>
 * }} Client
 * @param {Client} client
 */
export const live = async (client) => {
  console.log(client.authorizationUrl.href)
  const callback = new URL(await nextLine())
  if (callback.searchParams.has('error')) return tell({ denied: await refusalOf(() => client.exchange(callback)) })

  const call = async (url, token) => await (await client.call(url, token)).json()
  const story = { metadata: client.metadata }
  const exchanged = (story.exchanged = await client.exchange(callback))
  story.user = await call(userUrl, exchanged.access_token)
  // Two workers of the app refresh at once.
  const workers = [1, 2].map(() => client.refresh(exchanged.refresh_token))
  const [refreshed, alsoRefreshed] = await Promise.all(workers)
  Object.assign(story, { refreshed, alsoRefreshed })
  story.replaced = await refusalOf(() => call(userUrl, exchanged.access_token))
  story.sameUser = await call(userUrl, refreshed.access_token)
  story.introspected = await client.introspect(refreshed.access_token)
  story.introspectedReplaced = await client.introspect(exchanged.access_token)

  const appToken = (story.appToken = await client.ownToken())
  story.app = await call(appUrl, appToken.access_token)
  story.introspectedApp = await client.introspect(appToken.access_token)
  story.wrongSecret = await refusalOf(() => client.ownTokenWith(`${CLIENT_SECRET}x`))

  await client.revoke(refreshed.refresh_token)
  story.afterRevoke = {
    call: await refusalOf(() => call(userUrl, refreshed.access_token)),
    refresh: await refusalOf(() => client.refresh(refreshed.refresh_token)),
    code: await refusalOf(() => client.exchange(callback)),
    introspected: await client.introspect(refreshed.access_token),
    introspectedRefreshToken: await client.introspect(refreshed.refresh_token),
  }
  await client.revoke(refreshed.refresh_token) // a second time is allowed: RFC 7009 section 2.2
  story.appAfterRevoke = await call(appUrl, appToken.access_token)
  await client.revoke(appToken.access_token)
  story.revokedApp = await refusalOf(() => call(appUrl, appToken.access_token))
  return tell(story)
}

const tell = (story) => console.log(JSON.stringify(story))

const nextLine = async () => {
  const lines = createInterface({ input: process.stdin })
  for await (const line of lines) {
    lines.close()
    return line
  }
  throw new Error('nobody came back')
}

/** The error that the client reports: from the body, the challenge or the callback. */
const refusalOf = async (call) => {
  try {
    await call()
    return 'none'
  } catch (error) {
    const challenge = Array.isArray(error.cause) ? error.cause[0] : undefined
    return (
      error.error ?? (challenge && `${error.status} ${challenge.scheme} ${challenge.parameters.error ?? ''}`.trim())
    )
  }
}

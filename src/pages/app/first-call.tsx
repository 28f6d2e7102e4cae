import { usableBy } from '../../domain/scope.ts'
import { listLiveCredentials } from '../../operations/credentials/credentials.ts'
import { listRedirectUris } from '../../operations/redirect-uris.ts'
import { readCatalogue } from '../../operations/scopes/scopes.ts'
import { CodeBlock } from '../design/values.tsx'
import { page } from '../page.ts'
import { AppPage, inConsole, pageOfApp } from './app-area.tsx'
import { routes } from '../change.tsx'
import { currentApiVersion } from '../../domain/api-version.ts'

/** Commands to paste, filled in with the app's client ID. */
export const firstCallRoutes = routes(() => [
  pageOfApp(inConsole, 'first-call', async (at) => {
    const { app, environment } = at
    const { platform } = at.visit.door
    const catalogue = await readCatalogue(platform)
    const { redirectUris } = await listRedirectUris(platform, app.slug)
    const facts: CallFacts = {
      base: platform.publicUrl,
      clientId: app.clientIds[environment],
      redirectUri: redirectUris[environment][0] ?? null,
      appScope: usableBy('app', app.scopes, catalogue).join(' '),
      userScope: usableBy('user', app.scopes, catalogue).join(' '),
    }
    const secrets = (await listLiveCredentials(platform, app.clientIds))[environment]
    return page(
      <AppPage at={at} tab="first-call" title="First call" switches>
        <p>
          From an app token to a user’s consent, filled in with the client ID of this app. You need <code>curl</code>,{' '}
          <code>openssl</code> and a client secret.
        </p>
        {secrets.length > 0 ? null : (
          <p class="notice">
            {`This app has no active ${environment} secret. `}
            <a href={at.path('credentials', 'new')}>Create one first</a>, then return to this page.
          </p>
        )}
        <h2>1. Set up a terminal</h2>
        <p>
          The last line asks for the secret and keeps it in a variable of this terminal. The secret is not on this page
          and does not get into your shell history.
        </p>
        <CodeBlock id="set-up" label="Set up" code={setUpLines(facts)} />
        <h2>2. Get an app token and call the API</h2>
        {facts.appScope === '' ? (
          <p>
            None of its scopes is for the app itself, so the app cannot get an app token.{' '}
            <a href={at.path('scopes')}>Add one, such as site:read,</a> for this step.
          </p>
        ) : (
          <CodeBlock id="app-token" label="App token" code={appTokenLines(facts)} />
        )}
        <h2>3. Ask a user for consent</h2>
        <p>
          These lines print a link. Open it, sign in as any user, and allow access.
          {facts.redirectUri === null ? (
            <>
              {' '}
              No redirect URI is registered in this environment yet, so the link shows an error until you{' '}
              <a href={at.path('redirect-uris')}>register one</a>.
            </>
          ) : null}
        </p>
        {facts.userScope === '' ? (
          <p>
            None of its scopes is for users, so there is nothing to consent to.{' '}
            <a href={at.path('scopes')}>Add one, such as profile:read,</a> for this step.
          </p>
        ) : (
          <CodeBlock id="authorize" label="Authorize link" code={authorizeLines(facts)} />
        )}
        <h2>4. Exchange the code and read the user’s profile</h2>
        <p>
          The user returns to the redirect URI with a <code>code</code>, your <code>state</code> and <code>iss</code>.
          Compare <code>state</code> with yours and <code>iss</code> with <code>{facts.base}</code>, then insert the
          code. It works once, within five minutes.
        </p>
        <CodeBlock id="exchange" label="Exchange the code" code={exchangeLines()} />
        <h2>The same in TypeScript</h2>
        <p>
          A module for your backend, without dependencies. It reads the secret from the environment variable{' '}
          <code>CLIENT_SECRET</code>.
        </p>
        <CodeBlock id="typescript" label="TypeScript" code={typescriptLines(facts)} />
        <p>
          The <a href="/docs/reference">API reference</a> describes everything else.
        </p>
      </AppPage>,
    )
  }),
])

/** The values in the lines of a first call. The secret is not among them, because only the developer has it. */
type CallFacts = {
  /** The public URL of this server. */
  readonly base: string
  readonly clientId: string
  /** The address that users return to; null when none is registered. */
  readonly redirectUri: string | null
  readonly appScope: string
  readonly userScope: string
}

/** Used until a redirect URI is registered. */
const placeholderUri = 'https://app.example/callback'

/** Text in quotes that a shell does not interpret. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

/** Also escapes what `encodeURIComponent` leaves and a shell interprets inside double quotes. */
const escapedForQuery = (text: string): string =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  )

/** The prompt for the secret is last. Otherwise the next pasted line would become the secret. */
const setUpLines = ({ base, clientId }: CallFacts): string =>
  [
    `BASE=${quoted(base)}`,
    `CLIENT_ID=${quoted(clientId)}`,
    `api() { curl -sS -H 'X-Service-Api-Version: ${currentApiVersion}' -H 'Content-Type: application/json' "$@"; }`,
    `field() { sed -n "s/.*\\"$1\\":\\"\\([^\\"]*\\)\\".*/\\1/p"; }`,
    `read -rs CLIENT_SECRET   # paste the secret and press Enter; it is not shown and not kept in the history`,
  ].join('\n')

/** The body is sent through standard input, because other users of the machine can read a program's arguments. */
const appTokenLines = ({ appScope }: CallFacts): string =>
  [
    `APP_TOKEN=$(api "$BASE/api/app-platform/token" -d @- <<EOF | field accessToken`,
    `{"clientId":"$CLIENT_ID","clientSecret":"$CLIENT_SECRET","scope":"${appScope}"}`,
    'EOF',
    ')',
    `api "$BASE/api/app-platform/me" -H "Authorization: Bearer $APP_TOKEN"; echo`,
  ].join('\n')

/** PKCE (RFC 7636): this step sends only the hash of the verifier. */
const authorizeLines = ({ redirectUri, userScope }: CallFacts): string =>
  [
    `REDIRECT_URI=${quoted(redirectUri ?? placeholderUri)}`,
    'STATE=$(openssl rand -hex 16)',
    'VERIFIER=$(openssl rand -hex 32)',
    `CHALLENGE=$(printf %s "$VERIFIER" | openssl dgst -sha256 -binary | openssl base64 | tr '+/' '-_' | tr -d '=')`,
    `echo "$BASE/oauth/authorize?response_type=code&client_id=$CLIENT_ID&redirect_uri=${escapedForQuery(redirectUri ?? placeholderUri)}&scope=${escapedForQuery(userScope)}&state=$STATE&code_challenge=$CHALLENGE&code_challenge_method=S256"`,
  ].join('\n')

const exchangeLines = (): string =>
  [
    `CODE='paste the code here'`,
    `ACCESS_TOKEN=$(api "$BASE/api/app-platform/oauth/token" -d @- <<EOF | field accessToken`,
    `{"grantType":"authorization_code","clientId":"$CLIENT_ID","clientSecret":"$CLIENT_SECRET",`,
    ` "code":"$CODE","redirectUri":"$REDIRECT_URI","codeVerifier":"$VERIFIER"}`,
    'EOF',
    ')',
    `api "$BASE/api/app-platform/oauth/me" -H "Authorization: Bearer $ACCESS_TOKEN"; echo`,
  ].join('\n')

/** The same steps in TypeScript, for Bun, Deno and Node: a module for the app's backend. */
const typescriptLines = ({ base, clientId, redirectUri, appScope, userScope }: CallFacts): string =>
  `import { createHash, randomBytes } from 'node:crypto'
import { env } from 'node:process'

const base = ${JSON.stringify(base)}
const clientId = ${JSON.stringify(clientId)}
const clientSecret = env.CLIENT_SECRET // from your secret store, never in the source code
const redirectUri = ${JSON.stringify(redirectUri ?? placeholderUri)}

const call = async (method: string, path: string, more: { token?: string; body?: object }) => {
  const response = await fetch(base + '/api/app-platform' + path, {
    method,
    headers: {
      'X-Service-Api-Version': ${JSON.stringify(currentApiVersion)},
      'Content-Type': 'application/json',
      ...(more.token ? { Authorization: 'Bearer ' + more.token } : {}),
    },
    ...(more.body ? { body: JSON.stringify(more.body) } : {}),
  })
  const answer = await response.json()
  if (!response.ok) throw new Error(answer.error.code + ' in request ' + answer.error.requestId)
  return answer
}

/** Who the app is. */
export const whoAmI = async () => {
  const body = { clientId, clientSecret, scope: ${JSON.stringify(appScope)} }
  const { accessToken } = await call('POST', '/token', { body })
  return await call('GET', '/me', { token: accessToken })
}

/** Keep the state and the verifier in the user's session, and send the user to the URL. */
export const startAuthorization = () => {
  const state = randomBytes(16).toString('base64url')
  const codeVerifier = randomBytes(32).toString('base64url')
  const url = new URL(base + '/oauth/authorize')
  url.search = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: ${JSON.stringify(userScope)},
    state,
    code_challenge: createHash('sha256').update(codeVerifier).digest('base64url'),
    code_challenge_method: 'S256',
  }).toString()
  return { url: url.href, state, codeVerifier }
}

/** Call this when the user returns with the state that you kept. Gives the tokens, and who the user is. */
export const finishAuthorization = async (code: string, codeVerifier: string) => {
  const body = { grantType: 'authorization_code', clientId, clientSecret, code, redirectUri, codeVerifier }
  const tokens = await call('POST', '/oauth/token', { body })
  return { tokens, user: await call('GET', '/oauth/me', { token: tokens.accessToken }) }
}`

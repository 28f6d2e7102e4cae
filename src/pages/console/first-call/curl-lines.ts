import { currentApiVersion } from '../../../domain/api-version.ts'
import type { CallFacts } from './facts.ts'

/** Stands where nothing is registered yet. */
export const placeholderUri = 'https://app.example/callback'

/** Text that a shell takes as it is. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

/** Also what a shell reads inside double quotes, and `encodeURIComponent` leaves. */
const escapedForQuery = (text: string): string =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  )

/** Asks for the secret last, so that pasting the lines does not answer it. */
export const setUpLines = ({ base, clientId }: CallFacts): string =>
  [
    `BASE=${quoted(base)}`,
    `CLIENT_ID=${quoted(clientId)}`,
    `api() { curl -sS -H 'X-Service-Api-Version: ${currentApiVersion}' -H 'Content-Type: application/json' "$@"; }`,
    `field() { sed -n "s/.*\\"$1\\":\\"\\([^\\"]*\\)\\".*/\\1/p"; }`,
    `read -rs CLIENT_SECRET   # now paste the secret and press Enter: it is not shown, and stays out of the history`,
  ].join('\n')

/** The body goes in by standard input: other users of the machine can read the arguments of a program. */
export const appTokenLines = ({ appScope }: CallFacts): string =>
  [
    `APP_TOKEN=$(api "$BASE/api/app-platform/token" -d @- <<EOF | field accessToken`,
    `{"clientId":"$CLIENT_ID","clientSecret":"$CLIENT_SECRET","scope":"${appScope}"}`,
    'EOF',
    ')',
    `api "$BASE/api/app-platform/me" -H "Authorization: Bearer $APP_TOKEN"; echo`,
  ].join('\n')

/** PKCE (RFC 7636): only the hash of the verifier leaves the machine now. */
export const authorizeLines = ({ redirectUri, userScope }: CallFacts): string =>
  [
    `REDIRECT_URI=${quoted(redirectUri ?? placeholderUri)}`,
    'STATE=$(openssl rand -hex 16)',
    'VERIFIER=$(openssl rand -hex 32)',
    `CHALLENGE=$(printf %s "$VERIFIER" | openssl dgst -sha256 -binary | openssl base64 | tr '+/' '-_' | tr -d '=')`,
    `echo "$BASE/oauth/authorize?response_type=code&client_id=$CLIENT_ID&redirect_uri=${escapedForQuery(redirectUri ?? placeholderUri)}&scope=${escapedForQuery(userScope)}&state=$STATE&code_challenge=$CHALLENGE&code_challenge_method=S256"`,
  ].join('\n')

export const exchangeLines = (): string =>
  [
    `CODE='paste the code here'`,
    `ACCESS_TOKEN=$(api "$BASE/api/app-platform/oauth/token" -d @- <<EOF | field accessToken`,
    `{"grantType":"authorization_code","clientId":"$CLIENT_ID","clientSecret":"$CLIENT_SECRET",`,
    ` "code":"$CODE","redirectUri":"$REDIRECT_URI","codeVerifier":"$VERIFIER"}`,
    'EOF',
    ')',
    `api "$BASE/api/app-platform/oauth/me" -H "Authorization: Bearer $ACCESS_TOKEN"; echo`,
  ].join('\n')

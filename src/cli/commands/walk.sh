# Every answer is one line of JSON; this picks a field out of it.
field() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }
api() { curl -sS -H 'X-Service-Api-Version: 2026-08' -H 'Content-Type: application/json' "$@"; }
# A number of its own for every run, so that all of this can be pasted again.
RUN=$(date +%s)

# 1. The app gets a token for its credentials, and asks who it is.
APP_TOKEN=$(api "$BASE/api/app-platform/token" \
  -d '{"clientId":"'"$CLIENT_ID"'","clientSecret":"'"$CLIENT_SECRET"'","scope":"site:read"}' | field accessToken)
api "$BASE/api/app-platform/me" -H "Authorization: Bearer $APP_TOKEN"; echo

# 2. Its developer creates two versions, and rolls back from the second to the first.
api "$BASE/api/app-platform/versions" -H "Authorization: Bearer $APP_TOKEN" -H "Idempotency-Key: walk-$RUN-1" \
  -d '{"version":"9.'"$RUN"'.0","notes":"First","manifest":{"name":"Walk"},"scopes":["site:read"]}'; echo
api "$BASE/api/app-platform/versions" -H "Authorization: Bearer $APP_TOKEN" -H "Idempotency-Key: walk-$RUN-2" \
  -d '{"version":"9.'"$RUN"'.1","notes":"Second","manifest":{"name":"Walk"},"scopes":["site:read"]}'; echo
api "$BASE/api/app-platform/versions/rollback" -H "Authorization: Bearer $APP_TOKEN" \
  -d '{"version":"9.'"$RUN"'.0","reason":"Trying it out"}'; echo

# 3. A user signs in and consents. The code answers the challenge of a verifier that only the app knows (PKCE S256).
SESSION=$(curl -sS "$BASE/api/session" -H 'Content-Type: application/json' \
  -d '{"email":"'"$EMAIL"'","password":"'"$PASSWORD"'"}' | field sessionToken)
VERIFIER=$(openssl rand -hex 32)
CHALLENGE=$(printf %s "$VERIFIER" | openssl dgst -sha256 -binary | openssl base64 | tr '+/' '-_' | tr -d '=')
CODE=$(api "$BASE/api/app-platform/oauth/authorize" -H "Authorization: Bearer $SESSION" \
  -d '{"clientId":"'"$CLIENT_ID"'","redirectUri":"'"$REDIRECT_URI"'","scope":"profile:read site:read","state":"walk",
       "codeChallenge":"'"$CHALLENGE"'","codeChallengeMethod":"S256","consent":true}' | field code)

# 4. The app's backend exchanges the code, asks who the user is, and lists the user's websites.
TOKENS=$(api "$BASE/api/app-platform/oauth/token" \
  -d '{"grantType":"authorization_code","clientId":"'"$CLIENT_ID"'","clientSecret":"'"$CLIENT_SECRET"'",
       "code":"'"$CODE"'","redirectUri":"'"$REDIRECT_URI"'","codeVerifier":"'"$VERIFIER"'"}')
ACCESS_TOKEN=$(echo "$TOKENS" | field accessToken)
REFRESH_TOKEN=$(echo "$TOKENS" | field refreshToken)
api "$BASE/api/app-platform/oauth/me" -H "Authorization: Bearer $ACCESS_TOKEN"; echo
api "$BASE/api/app-platform/resources?kind=site" -H "Authorization: Bearer $ACCESS_TOKEN"; echo

# 5. It refreshes: both tokens are new and work, the old ones are dead.
TOKENS=$(api "$BASE/api/app-platform/oauth/token" \
  -d '{"grantType":"refresh_token","clientId":"'"$CLIENT_ID"'","clientSecret":"'"$CLIENT_SECRET"'",
       "refreshToken":"'"$REFRESH_TOKEN"'"}')
NEW_ACCESS_TOKEN=$(echo "$TOKENS" | field accessToken)
NEW_REFRESH_TOKEN=$(echo "$TOKENS" | field refreshToken)
api "$BASE/api/app-platform/oauth/me" -H "Authorization: Bearer $NEW_ACCESS_TOKEN"; echo
api "$BASE/api/app-platform/oauth/me" -H "Authorization: Bearer $ACCESS_TOKEN"; echo # invalid_token

# 6. It revokes: nothing of the grant works any more.
api "$BASE/api/app-platform/oauth/revoke" \
  -d '{"clientId":"'"$CLIENT_ID"'","clientSecret":"'"$CLIENT_SECRET"'","token":"'"$NEW_REFRESH_TOKEN"'"}'; echo
api "$BASE/api/app-platform/oauth/me" -H "Authorization: Bearer $NEW_ACCESS_TOKEN"; echo # invalid_token

/** Those of `src/operations/` that change nothing anybody could see; see equivalent.ts. */
export const equivalentInOperations: Readonly<Record<string, string>> = {
  'src/operations/clients/claimed-trail.ts: never: environment === null':
    'a malformed ID is no client: the store is spared the question',
  'src/operations/demo/seed-demo.ts: never: caller === null': 'a token that was just issued is alive',
  'src/operations/embedding/exchange-install-session-code.ts: never: place === null':
    'an install has a place: a foreign key of the store',
  'src/operations/embedding/issue-install-session-code.ts: never: client === undefined':
    'an app has a client in both environments from its first transaction on',
  'src/operations/embedding/issue-install-session-code.ts: left out: app === null':
    'an install has an app: a foreign key of the store',
  'src/operations/embedding/issue-install-session-code.ts: left out: version === null':
    'without a version there is no page, which is asked next',
  'src/operations/purge/purge.ts: left out: first === undefined': 'rows without a first have no last',
  'src/operations/purge/purge.ts: left out: last === undefined': 'rows with a first have a last',
  'src/operations/purge/purge.ts: never: expired.length === 0': 'a transaction over nothing removes nothing',
  'src/operations/resources/list-resources.ts: left out: page.cursor !== null': 'null reads like a slug',
  'src/operations/resources/import-lines.ts: never: first.length === 0': 'nothing before it leaves it as it is',
  'src/operations/resources/import-resources.ts: never: remembered !== undefined':
    'the store is asked again, and says the same',
  'src/operations/resources/import-resources.ts: left out: known.set(address, user.id)':
    'the store is asked again, and says the same',
  'src/operations/resources/import-resources.ts: never: user !== null': 'the store is asked again, and says the same',
  'src/operations/purge/purge.ts: always yes: grant.expiresAt <= before':
    'what has not expired is kept by the store, which asks again',
  'src/operations/purge/purge.ts: never: !batch.full':
    'the window is looked at once more, and nothing over is left in it',
  'src/operations/apps/app-record.ts: never: client === undefined':
    'an app has a client in both environments from its first transaction on',
  'src/operations/apps/app-overview.ts: never: headId === null': 'no version has no ID',
  'src/operations/apps/inspect-app.ts: never: owner === null': 'an app has an owner: a foreign key of the store',
  'src/operations/artifacts/open-artifact.ts: >=: held.length > 0': 'an empty file has one empty piece, or none',
  'src/operations/artifacts/open-artifact.ts: left out: chunk.data.length === 0':
    'after an empty piece comes one that is missing, or the file is whole all the same',
  'src/operations/audit/describe-events.ts: left out: appId !== null': 'no app has no ID',
  'src/operations/audit/describe-events.ts: left out: !slugs.has(appId)': 'the store is asked again, and says the same',
  "src/operations/audit/describe-events.ts: left out: actorId?.startsWith('usr_') === true": 'no other actor is a user',
  'src/operations/audit/describe-events.ts: left out: !emails.has(actorId)':
    'the store is asked again, and says the same',
  "src/operations/audit/event.ts: always: 'id' in facts.actor": 'what is undefined is stored as null',
  'src/operations/audit/search-events.ts: left out: actorId === null || environmentOfClientId(actorId) !== null':
    'no token was issued by any other actor: the store is spared the question',
  'src/operations/audit/search-events.ts: >=: a > b': 'of two that are the same either will do',
  'src/operations/audit/search-events.ts: <=: a < b': 'of two that are the same either will do',
  'src/operations/audit/search-events.ts: never: search.since === null':
    'no moment counts as 1970, before which nothing happened',
  'src/operations/audit/search-events.ts: >=: one > other':
    'no two events have the same ID, and the end of a stretch belongs to it anyhow',
  'src/operations/audit/search-events.ts: <=: one < other':
    'no two events have the same ID, and the end of a stretch belongs to it anyhow',
  'src/operations/credentials/rotate-credential.ts: never: environment === null':
    'no client has no environment: the refusal is the same',
  'src/operations/clients/authenticate-client.ts: never: environment === null':
    'no credential is that of a malformed client ID, whatever secret comes with it',
  'src/operations/clients/authenticate-client.ts: left out: lastUsedAt === null':
    'never counts as 1970, which is long ago',
  'src/operations/credentials/is-client.ts: left out: environmentOfClientId(clientId) !== null':
    'a malformed ID is no client: the store is spared the question',
  'src/operations/credentials/create-credential.ts: never: client === undefined':
    'an app has a client in both environments from its first transaction on',
  'src/operations/oauth/decide-consent.ts: always: refusal instanceof PlatformError':
    'an error that is none of ours has no code, and so no name at the redirect URI',
  'src/operations/search.ts: twice: 254': 'nothing that is searched is as long as that',
  'src/operations/search.ts: >=: part.length > longestPart': 'nothing that is searched is as long as that',
  'src/operations/sessions/end-session.ts: left out: ended': 'a session that this ended is found, and is the own one',
  'src/operations/sessions/sign-in.ts: always: checkable':
    'what no password can be is refused whatever it was compared with',
  'src/operations/sessions/sign-in.ts: left out: !checkable':
    'what no password can be is compared as the empty one, which nobody has',
  'src/operations/users/change-password.ts: always: checkable':
    'what no password can be is refused whatever it was compared with',
  'src/operations/users/find-user.ts: never: email === null': 'nobody has no address',
  'src/operations/users/change-password.ts: left out: checkable':
    'what no password can be is compared as the empty one, which nobody has',
  'src/operations/users/change-password.ts: left out: oldHash !== null': 'without an old hash nothing has matched',
  'src/operations/versions/create-version.ts: never: app === null':
    'the app of a token that was found alive in this very transaction is there',
  "src/operations/versions/create-version.ts: left out: asked.kind === 'refused'": 'only a refusal has a code',
  'src/operations/versions/read-review.ts: left out: app === null': 'without an app there is no version',
  'src/operations/versions/list-queue.ts: left out: since === undefined':
    'a cursor of the right form has both of its parts',
  'src/operations/versions/list-queue.ts: left out: id === undefined':
    'a cursor of the right form has both of its parts',
  'src/operations/versions/read-review.ts: never: owner === null': 'an app has an owner: a foreign key of the store',
  'src/operations/versions/roll-back-version.ts: never: app === null':
    'the app of a token that was found alive in this very transaction is there',
  'src/operations/versions/roll-back-version.ts: always: from !== null':
    'the first version is the head, and what was live before has given way to another: something is current',
  'src/operations/versions/roll-back-version.ts: never: !isSwapped':
    'one transaction at a time writes in SQLite: what was read in it still is so; another engine may differ',
  'src/operations/versions/take-step.ts: never: !(await q.versions.move(before.id, [from], to, changesOf(move, stamp.at), stamp.at))':
    'one transaction at a time writes in SQLite: what was read in it still is so; another engine may differ',
  'src/operations/versions/version-record.ts: never: row === null || app === null':
    'a version that was written or read in this very transaction is there, and so is its app',
  'src/operations/versions/version-record.ts: left out: row === null':
    'a version that was written or read in this very transaction is there, and so is its app',
  'src/operations/versions/version-record.ts: left out: app === null':
    'a version that was written or read in this very transaction is there, and so is its app',
  'src/operations/versions/version-record.ts: left out: row.artifactSha256 === null':
    'a file is written with its name and its size',
  'src/operations/versions/version-record.ts: left out: row.artifactFilename === null':
    'a file is written with its name and its size',
  'src/operations/versions/version-record.ts: left out: row.artifactSizeBytes === null':
    'a file is written with its name and its size',
  "src/operations/webhooks/resend-events.ts: left out: choice.kind === 'since'": 'no other choice has a moment',
  "src/operations/webhooks/resend-events.ts: left out: choice.kind === 'one'": 'one is fewer than are sent at once',
  'src/operations/webhooks/ping-endpoint.ts: never: event === null':
    'an event that was written in this very transaction is there',
  'src/operations/redirect-uris/change-redirect-uris.ts: never: client === undefined':
    'an app has a client in both environments from its first transaction on',
  'src/operations/grants/list-connected-apps.ts: never: first === undefined': 'a group has rows',
  'src/operations/grants/list-connected-apps.ts: never: first === undefined || environment === null':
    'a group has rows, and a grant has a client: a foreign key of the store',
  'src/operations/grants/list-connected-apps.ts: left out: first === undefined': 'a group has rows',
  'src/operations/grants/list-connected-apps.ts: left out: environment === null':
    'a grant has a client: a foreign key of the store',
  'src/operations/grants/revoke-connected-apps.ts: always: id > latest':
    'SQLite gives what it has changed in the order of the IDs; another engine may differ',
  'src/operations/grants/revoke-connected-apps.ts: left out: ended.length === 0':
    'what has just ended was granted: the store is spared the question',
  'src/operations/grants/revoke-connected-apps.ts: never: id > latest':
    'what has ended is not among what is still to end: the store is spared looking at it again',
  'src/operations/grants/revoke-connected-apps.ts: >=: id > latest': 'the latest ID is the latest either way',
  "src/operations/installs/end-install.ts: always: taken.kind === 'done'":
    'an install that was found in use in this very transaction still is',
  'src/operations/installs/agree-to-scopes.ts: left out: install === null': 'without an install there is no app',
  'src/operations/installs/agree-to-scopes.ts: left out: app === null':
    'an install has an app: a foreign key of the store',
  'src/operations/versions/current-version.ts: never: app.developmentVersionId === null': 'no version has no ID',
  'src/operations/oauth/attempt.ts: left out: !sameHash(pair.accessHash, current.pair.accessHash)':
    'both tokens come from one salt: where one differs, both do',
  'src/operations/oauth/attempt.ts: left out: !sameHash(pair.refreshHash, current.pair.refreshHash)':
    'both tokens come from one salt: where one differs, both do',
  'src/operations/oauth/attempt.ts: left out: grant.retryKey !== null': 'closing what is closed changes nothing',
  "src/operations/oauth/check-authorization-request.ts: left out: !isSubset(asked.scopes, scopesFor('user'))":
    'every scope that an app can register is one that a user can grant, as yet',
  'src/operations/oauth/continue-grant.ts: never: retry === null':
    'the key of a retry says nothing without the moment until which it may come',
  'src/operations/oauth/continue-grant.ts: never: !won':
    'one transaction at a time writes in SQLite: what was current a moment ago still is; another engine may differ',
  'src/operations/oauth/continue-grant.ts: left out: presented === null':
    'without a secret that can be read nothing was found, which is asked next',
  'src/operations/oauth/introspect.ts: left out: found.row.grant.appId !== appId':
    'a token of another client is told nobody, which is asked of every kind at the end',
  'src/operations/oauth/prepare-consent.ts: never: clientId === null': 'no client has no ID: the refusal is the same',
  'src/operations/oauth/prepare-consent.ts: never: redirectUri === null':
    'no client has registered nothing: the refusal is the same',
  'src/operations/oauth/prepare-consent.ts: never: error === null':
    'every refusal of a request whose redirection is verified has a name at the redirect URI',
}

/** Lists of what a column of the store may hold, which nothing but types reads. */
const columns: Readonly<Record<string, string>> = {
  'src/domain/app.ts': 'active suspended',
  'src/domain/install.ts': 'pending approved rejected withdrawn active inactive',
  'src/domain/user.ts': 'active disabled',
  'src/domain/webhook-delivery.ts':
    'by_hand gone failing enabled disabled pending delivered failed ' +
    'no_secret address_refused not_resolved not_connected certificate_refused timed_out',
}
const namesOfColumns = Object.fromEntries(
  Object.entries(columns).flatMap(([file, names]) =>
    names.split(' ').map((name) => [`${file}: left out: '${name}'`, 'only types read this list'] as const),
  ),
)

/**
 * Breaks that change nothing anybody could see, each with the reason. The key is the file and the change, as a run prints
 * them; a line that has moved stays known.
 */
export const equivalent: Readonly<Record<string, string>> = {
  ...namesOfColumns,
  'db/queries/audit.ts: <=: a.id < b.id': 'no two events have the same ID',
  'db/queries/grants.ts: left out: gt(grants.id, part.after)': 'what has ended is not among what is still to end',
  'db/queries/grants.ts: >=: pairs > 0': 'deleting none deletes none',
  "db/queries/installs.ts: left out: eq(installs.approval, given('approval'))":
    'what is active is approved: a check of the store',
  'db/queries/embedding.ts: left out: eq(sessions.userId, installs.userId)':
    'only a session of the owner of the install makes a code for it, and an install stays with its owner',
  'src/domain/authorization-parameters.ts: never: key === null':
    'a name that cannot be read is kept under null, and nobody asks for a parameter of that name',
  'src/domain/base62.ts: left out: first < limbs.length': 'beyond the last limb there is no 0 to leap over',
  'src/domain/base62.ts: <=: first < limbs.length': 'beyond the last limb there is no 0 to leap over',
  'src/domain/crc32.ts: twice: 256': 'only the first 256 entries are ever asked for',
  "src/domain/resource.ts: always: typeof value === 'string'": 'what is no text has not the form of a time',
  'src/domain/download-name.ts: <: Buffer.byteLength(name) <= longestBytes': 'a name that fits is shortened to itself',
  'src/domain/download-name.ts: >=: dot > 0':
    'a name that is too long has no dot at its beginning, and without any it is longer than an extension may be',
  'src/domain/download-name.ts: never: Buffer.byteLength(name) <= longestBytes':
    'a name that fits is shortened to itself',
  'src/domain/download-name.ts: left out: dot > 0':
    'a name that is too long has no dot at its beginning, and without any it is longer than an extension may be',
  'src/domain/errors.ts: always yes: Object.hasOwn(errorCodes, value)': 'only tests ask it, of codes of the list',
  'src/domain/form-ticket.ts: never: !isRowKey(key)': 'a MAC over what is no key was never given out',
  'src/domain/grant.ts: left out: grant.retryUntil === null': 'no moment counts as 1970, which is over',
  'src/domain/ip-address.ts: never: text.length > 45':
    'what is longer is no address either; it is only not read to its end',
  'src/domain/ip-address.ts: >: bits >= 8': 'with eight bits left both masks are the same',
  'src/domain/public-address.ts: never: network === null':
    'the networks are written in the source, and all are networks',
  "src/domain/webhook-event.ts: left out: typeof parsed === 'object'":
    'what is no object has no entries of the names that are told',
  'src/domain/webhook-delivery.ts: left out: status !== null': 'no status is below every status',
  'src/domain/webhook-event.ts: never: detail === null': 'null is JSON for null',
  'src/domain/webhook-delivery.ts: never: retryAfter === null': 'null is read as a date that is none',
  'src/domain/webhook-delivery.ts: left out: since !== null': 'only a ping has no such moment, which is asked before',
  'src/http/admission.ts: never: host !== null && host === lastGoodHost':
    'the host is looked at again, and is good again',
  'src/http/admission.ts: never: rule.mediaTypes.includes(type)': 'the name before the parameters is the same name',
  'src/http/errors.ts: left out: error instanceof Error': 'what is no error has no cause either',
  'src/http/errors.ts: never: error instanceof Error && error.cause instanceof PlatformError':
    'no parser of ours throws, as yet: bodies are read by the routes',
  'src/http/idempotency-key.ts: never: key === null': 'null has the form of a key, and is given back as it is',
  'src/http/limits.ts: left out: error instanceof PlatformError': 'no other error has a status',
  "src/http/admission.ts: left out: request.method === 'PUT'": 'no route takes a PUT, as yet',
  "src/http/admission.ts: left out: request.method === 'PATCH'": 'no route takes a PATCH, as yet',
  'src/http/admission.ts: left out: length !== null': 'what tells no length tells none that is too long',
  'src/http/base64-intake.ts: left out: usable > 0': 'before the first character there is no padding',
  'src/http/base64-intake.ts: >=: usable > 0': 'before the first character there is no padding',
  "src/http/base64-intake.ts: always: text.includes('\\\\')": 'where there is none, none is replaced',
  'src/http/base64-intake.ts: left out: !broken': 'of what is broken nothing is given out, taken or not',
  'src/http/base64-intake.ts: never: broken': 'what is broken is kept whole, and cannot be decoded at the end either',
  'src/http/base64-intake.ts: left out: decoded === null': 'what cannot be decoded is broken, which is asked beside it',
  'src/http/base64-intake.ts: left out: decoded !== null': 'what cannot be decoded is broken, which is asked beside it',
  'src/http/bearer.ts: >=: text.length > maximumLength': 'no secret is as long as that',
  'src/http/canonical-json.ts: <=: one < other': 'no two keys of an object are the same',
  "src/http/envelope.ts: left out: typeof scope === 'string'": 'every refusal of this kind names its scope',
  'src/http/page-request.ts: >=: text.length > 256': 'no cursor of ours is as long as that',
  "src/http/page-request.ts: never: start === -1 || !request.url.includes('&', start)":
    'the parser is spared: where nothing or one parameter is, nothing comes twice',
  'src/http/page-request.ts: left out: start === -1': 'the last letter of a URL without a query repeats nothing',
  "src/http/page-request.ts: left out: !request.url.includes('&', start)": 'the parser is spared: one comes once',
  "src/http/router.ts: never: !segment.includes('%')": 'what has no escape is decoded to itself',
  'src/http/router.ts: never: patterns.length === 0': 'among no patterns none is found',
  "src/http/router.ts: always yes: decodeURIComponent(segment) !== ''": 'an escape that can be decoded is something',
  'src/http/rate-limit.ts: left out: wayUsed[place] === 1': 'a place that nobody has used is one of no key',
  'src/http/rate-limit.ts: left out: wayUsed[place] !== 1': 'a place that nobody has used is one of no key',
  'src/http/rate-limit.ts: <=: (backAt[place] ?? 0) < (backAt[least] ?? 0)':
    'of two that owe the same either may give way',
  "src/http/standard/routes.ts: left out: method === 'POST'": 'these paths take nothing but a POST',
  'src/http/strict-json.ts: left out: end !== -1': 'before the beginning no quote is escaped',
  'src/http/upload-scanner.ts: left out: this.#intake === null':
    'a second file has the key of the first, which is refused with the rest',
  'src/http/routes/resources.ts: left out: text !== undefined': 'no kind is called undefined',
  'src/http/shell.ts: left out: mayBegin === true': 'what is awaited and true is true',
  'src/http/shell.ts: left out: authorization !== null': 'nothing begins with no bearer either',
  'src/http/shell.ts: left out: id !== null': 'what was not sent is told as it came',
  'src/http/shell.ts: left out: rateLimit === null': 'the shell has asked a limit before',
  'src/http/shell.ts: left out: state === null': 'the shell has asked a limit before',
  'src/http/turnstile.ts: never: next === undefined': 'of an empty line nothing is left, however often it is cut',
  'src/http/upload-body.ts: >=: performance.now() > deadline':
    'no upload arrives at that very fraction of a millisecond',
  'src/http/limits.ts: left out: !ofAddress.allowed':
    'what is allowed is let through below; the store is spared the question',
  'src/operations/clients/claimed-trail.ts: never: environment === null':
    'a malformed ID is no client: the store is spared the question',
  'src/operations/embedding/exchange-install-session-code.ts: never: place === null':
    'an install has a place: a foreign key of the store',
  'src/operations/embedding/is-known-origin.ts: <: origin.length <= maximumLength': 'no host name is as long as that',
  'src/operations/embedding/is-known-origin.ts: left out: origin.length <= maximumLength':
    'no longer one was ever kept: the store is spared the question',
  'src/operations/embedding/issue-install-session-code.ts: never: client === undefined':
    'an app has a client in both environments from its first transaction on',
  'src/operations/embedding/issue-install-session-code.ts: left out: app === null':
    'an install has an app: a foreign key of the store',
  'src/operations/embedding/issue-install-session-code.ts: left out: version === null':
    'without a version there is no page, which is asked next',
  'src/pages/account/installs/list-routes.tsx: always yes: ownsInstall(userId, id)': 'a rule is something as it stands',
  'src/pages/front-door/ask.tsx: left out: visit === null':
    'who is not signed in is asked to, which is asked beside it',
  'src/pages/front-door/decide.tsx: never: !(error instanceof PlatformError)':
    'an error that is none of ours is thrown on by what comes next',
  'src/pages/front-door/unanswered-page.tsx: never: !(error instanceof PlatformError)':
    'an error that is none of ours has no explanation, which is asked next',
  'src/pages/notice.ts: left out: done === null': 'no page has a sentence called null',
  'src/pages/outcome.ts: left out: error instanceof PlatformError': 'no other error has a status',
  "src/pages/pages.ts: left out: method === 'POST'": 'what comes with another method is never looked at',
  'src/pages/sign-in/visitor.ts: left out: known !== null': 'null has not the form of a secret',
  'src/pages/return-to.ts: left out: url !== null': 'a path by the rule above can be read',
  'src/pages/return-to.ts: left out: url.origin === publicUrl': 'a path by the rule above is one of this server',
  'src/pages/seen-version.ts: left out: liveId === undefined': 'a field of the right form has all of its parts',
  'src/operations/purge/purge.ts: left out: first === undefined': 'rows without a first have no last',
  'src/operations/purge/purge.ts: left out: last === undefined': 'rows with a first have a last',
  'src/operations/purge/purge.ts: never: expired.length === 0': 'a transaction over nothing removes nothing',
  'src/operations/resources/list-resources.ts: left out: page.cursor !== null': 'null reads like a slug',
  'src/operations/resources/import-resources.ts: never: remembered !== undefined':
    'the store is asked again, and says the same',
  'src/operations/resources/import-resources.ts: never: user !== null': 'the store is asked again, and says the same',
  'src/operations/purge/purge.ts: always yes: grant.expiresAt <= before':
    'what has not expired is kept by the store, which asks again',
  'src/operations/purge/purge.ts: never: !batch.full':
    'the window is looked at once more, and nothing over is left in it',
  'src/operations/apps/app-record.ts: never: client === undefined':
    'an app has a client in both environments from its first transaction on',
  'src/operations/apps/inspect-app.ts: never: owner === null': 'an app has an owner: a foreign key of the store',
  'src/operations/artifacts/open-artifact.ts: left out: chunk.data.length === 0':
    'after an empty piece comes one that is missing, or the file is whole all the same',
  'src/operations/audit/describe-events.ts: left out: appId !== null': 'no app has no ID',
  'src/operations/audit/describe-events.ts: left out: !slugs.has(appId)': 'the store is asked again, and says the same',
  "src/operations/audit/describe-events.ts: left out: actorId?.startsWith('usr_') === true": 'no other actor is a user',
  'src/operations/audit/describe-events.ts: left out: !emails.has(actorId)':
    'the store is asked again, and says the same',
  'src/operations/audit/search-events.ts: left out: actorId === null || environmentOfClientId(actorId) !== null':
    'no token was issued by any other actor: the store is spared the question',
  'src/operations/audit/search-events.ts: >=: one > other':
    'no two events have the same ID, and the end of a stretch belongs to it anyhow',
  'src/operations/audit/search-events.ts: <=: one < other':
    'no two events have the same ID, and the end of a stretch belongs to it anyhow',
  'src/operations/credentials/rotate-credential.ts: never: environment === null':
    'no client has no environment: the refusal is the same',
  'src/operations/clients/authenticate-client.ts: left out: lastUsedAt === null':
    'never counts as 1970, which is long ago',
  'src/operations/credentials/is-client.ts: left out: environmentOfClientId(clientId) !== null':
    'a malformed ID is no client: the store is spared the question',
  'src/operations/credentials/create-credential.ts: never: client === undefined':
    'an app has a client in both environments from its first transaction on',
  'src/operations/oauth/decide-consent.ts: always: refusal instanceof PlatformError':
    'an error that is none of ours has no code, and so no name at the redirect URI',
  'src/operations/search.ts: >=: part.length > longestPart': 'nothing that is searched is as long as that',
  'src/operations/sessions/end-session.ts: left out: ended': 'a session that this ended is found, and is the own one',
  'src/operations/sessions/sign-in.ts: left out: !checkable':
    'what no password can be is compared as the empty one, which nobody has',
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
  'src/operations/grants/revoke-connected-apps.ts: >=: id > latest': 'the latest ID is the latest either way',
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

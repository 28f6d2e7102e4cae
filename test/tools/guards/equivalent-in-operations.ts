/** Breaks in `src/operations/` that change nothing visible; see equivalent.ts. */
export const equivalentInOperations: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "const appId = await q.apps.idOfClient(environment === null ? '' : clientId)": {
    'never: environment === null': 'a malformed ID is no client: the store is spared the question',
  },
  "if (caller === null) throw new Error('a token that was just issued is not alive')": {
    'never: caller === null': 'a token that was just issued is alive',
  },
  "if (place === null) throw new Error('an install is gone within its own transaction')": {
    'never: place === null': 'an install has a place: a foreign key of the store',
  },
  "if (client === undefined) throw new Error('an app has no client in one of its environments')": {
    'never: client === undefined': 'an app has a client in both environments from its first transaction on',
  },
  "if (app === null || app.status !== 'active') return refuse('app_inactive')": {
    'left out: app === null': 'an install has an app: a foreign key of the store',
  },
  'if (version === null || embed === null || embed.origin === publicUrl) return nothingToOpen()': {
    'left out: version === null': 'without a version there is no page, which is asked next',
  },
  'if (first === undefined || last === undefined) return 0': {
    'left out: first === undefined': 'rows without a first have no last',
    'left out: last === undefined': 'rows with a first have a last',
  },
  'if (page.cursor !== null && !isSlug(page.cursor)) throw strangeCursor()': {
    'left out: page.cursor !== null': 'null reads like a slug',
  },
  'first.length === 0 ? second : Buffer.concat([first, second])': {
    'never: first.length === 0': 'nothing before it leaves it as it is',
  },
  'developmentHead: headId === null ? null : await q.versions.summary(app.id, headId),': {
    'never: headId === null': 'no version has no ID',
  },
  "if (owner === null) throw new Error('an app has no owner')": {
    'never: owner === null': 'an app has an owner: a foreign key of the store',
  },
  'if (held.length > 0) yield held': {
    '>=: held.length > 0': 'an empty file has one empty piece, or none',
  },
  'if (chunk === null || chunk.data.length === 0) throw new ArtifactDamaged()': {
    'left out: chunk.data.length === 0':
      'after an empty piece comes one that is missing, or the file is whole all the same',
  },
  "actorId: 'id' in facts.actor ? facts.actor.id : null,": {
    "always: 'id' in facts.actor": 'what is undefined is stored as null',
  },
  '(actorId === null || environmentOfClientId(actorId) !== null) &&': {
    'left out: actorId === null || environmentOfClientId(actorId) !== null':
      'no token was issued by any other actor: the store is spared the question',
  },
  'const later = (a: string, b: string): string => (a > b ? a : b)': {
    '>=: a > b': 'of two that are the same either will do',
  },
  'const earlier = (a: string, b: string): string => (a < b ? a : b)': {
    '<=: a < b': 'of two that are the same either will do',
  },
  'const from = since === null ? firstUuid : uuidOfTime(since)': {
    'never: since === null': 'no moment counts as 1970, before which nothing happened',
  },
  "order === 'newest' ? one > other : one < other": {
    '>=: one > other': 'no two events have the same ID, and the end of a stretch belongs to it anyhow',
    '<=: one < other': 'no two events have the same ID, and the end of a stretch belongs to it anyhow',
  },
  "if (environment === null) throw badInput('clientId', 'There is no such client.')": {
    'never: environment === null': 'no client has no environment: the refusal is the same',
  },
  'environment === null': {
    'never: environment === null': 'no credential is that of a malformed client ID, whatever secret comes with it',
  },
  'lastUsedAt === null || nowMs - lastUsedAt >= lastUsePrecisionMs': {
    'left out: lastUsedAt === null': 'never counts as 1970, which is long ago',
  },
  'environmentOfClientId(clientId) !== null && (await platform.database.queries.apps.idOfClient(clientId)) !== null': {
    'left out: environmentOfClientId(clientId) !== null':
      'a malformed ID is no client: the store is spared the question',
  },
  'const error = refusal instanceof PlatformError ? authorizationErrorOf(refusal) : null': {
    'always: refusal instanceof PlatformError':
      'an error that is none of ours has no code, and so no name at the redirect URI',
  },
  'const longestPart = 254': {
    'twice: 254': 'nothing that is searched is as long as that',
  },
  'export const canBeFound = (part: string): boolean => part.length <= longestPart && isWellFormedText(part)': {
    '<: part.length <= longestPart': 'nothing that is searched is as long as that',
  },
  'const isOwn = ended || (await q.sessions.find(key))?.user.id === caller.user.id': {
    'left out: ended': 'a session that this ended is found, and is the own one',
  },
  "const matches = await platform.passwords.matches(checkable ? credentials.password : '', asked?.passwordHash ?? null)":
    {
      'always: checkable': 'what no password can be is refused whatever it was compared with',
    },
  'if (!matches || !checkable || !counts) {': {
    'left out: !checkable': 'what no password can be is compared as the empty one, which nobody has',
  },
  "const matches = (await platform.passwords.matches(checkable ? passwords.current : '', oldHash)) && checkable": {
    'always: checkable': 'what no password can be is refused whatever it was compared with',
    'left out: checkable': 'what no password can be is compared as the empty one, which nobody has',
  },
  'return email === null ? null : await q.users.byEmail(email)': {
    'never: email === null': 'nobody has no address',
  },
  'oldHash !== null && newHash !== null && (await q.users.replacePassword(caller.user.id, oldHash, newHash, now))': {
    'left out: oldHash !== null': 'without an old hash nothing has matched',
  },
  "if (app === null) return refuse('invalid_token')": {
    'never: app === null': 'the app of a token that was found alive in this very transaction is there',
  },
  "if (asked.kind === 'refused' && asked.code === 'invalid_scope')": {
    "left out: asked.kind === 'refused'": 'only a refusal has a code',
  },
  "if (app === null || row === null) throw refuse('version_not_found')": {
    'left out: app === null': 'without an app there is no version',
  },
  'if (since === undefined || id === undefined) throw strangeCursor()': {
    'left out: since === undefined': 'a cursor of the right form has both of its parts',
    'left out: id === undefined': 'a cursor of the right form has both of its parts',
  },
  "return from !== null ? { app, from, to } : refuse('no_previous_version')": {
    'always: from !== null':
      'the first version is the head, and what was live before has given way to another: something is current',
  },
  'if (!(await q.versions.move(id, [status], to, times, now))) {': {
    'never: !(await q.versions.move(id, [status], to, times, now))':
      'one transaction at a time writes in SQLite: what was read in it still is so; another engine may differ',
  },
  "if (row === null || app === null) throw new Error('a version is gone within its own transaction')": {
    'never: row === null || app === null':
      'a version that was written or read in this very transaction is there, and so is its app',
    'left out: row === null': 'a version that was written or read in this very transaction is there, and so is its app',
    'left out: app === null': 'a version that was written or read in this very transaction is there, and so is its app',
  },
  'row.artifactSha256 === null || row.artifactFilename === null || row.artifactSizeBytes === null': {
    'left out: row.artifactSha256 === null': 'a file is written with its name and its size',
    'left out: row.artifactFilename === null': 'a file is written with its name and its size',
    'left out: row.artifactSizeBytes === null': 'a file is written with its name and its size',
  },
  "if (choice.kind === 'since' && choice.at < platform.clock.now() - webhookHistoryMs) {": {
    "left out: choice.kind === 'since'": 'no other choice has a moment',
  },
  "if (choice.kind === 'one' || batch.length < resentAtOnce) return { id, resent }": {
    "left out: choice.kind === 'one'": 'one is fewer than are sent at once',
  },
  "if (event === null) throw new Error('an event disappeared within its own transaction')": {
    'never: event === null': 'an event that was written in this very transaction is there',
  },
  'const environment = first === undefined ? null : environmentOfClientId(first.clientId)': {
    'never: first === undefined': 'a group has rows',
  },
  "if (first === undefined || environment === null) throw new Error('a grant has no client')": {
    'never: first === undefined || environment === null':
      'a group has rows, and a grant has a client: a foreign key of the store',
    'left out: first === undefined': 'a group has rows',
    'left out: environment === null': 'a grant has a client: a foreign key of the store',
  },
  'after = ended.reduce((latest, id) => (id > latest ? id : latest), after)': {
    'always: id > latest': 'SQLite gives what it has changed in the order of the IDs; another engine may differ',
    'never: id > latest': 'what has ended is not among what is still to end: the store is spared looking at it again',
    '>=: id > latest': 'the latest ID is the latest either way',
  },
  'return taken instanceof PlatformError ? taken : step': {
    'never: taken instanceof PlatformError': 'an install that was found in use in this very transaction still is',
  },
  'if (found === null || app === null || endingStep(found.install) === null) {': {
    'left out: found === null': 'without an install there is no app',
    'left out: app === null': 'an install has an app: a foreign key of the store',
  },
  'return app.developmentVersionId === null ? null : await q.versions.byId(app.id, app.developmentVersionId)': {
    'never: app.developmentVersionId === null': 'no version has no ID',
  },
  'row !== undefined && sameHash(pair.accessHash, row.accessHash) && sameHash(pair.refreshHash, row.refreshHash)': {
    'left out: sameHash(pair.accessHash, row.accessHash)': 'both tokens come from one salt, so both differ or neither',
    'left out: sameHash(pair.refreshHash, row.refreshHash)':
      'both tokens come from one salt, so both differ or neither',
  },
  'retryKey: kept === null ? null : row.previousKey,': {
    'never: kept === null': 'the key of a retry has no effect without the end of its window',
  },
  'retryUntil: kept === null ? null : now + kept.windowMs,': {
    'never: kept === null': 'the key of a retry says nothing without the moment until which it may come',
  },
  'if (!(await q.grants.advance(row, grantStep(next, row, windowNow)))) return await endFamily(attempt)': {
    'never: !(await q.grants.advance(row, grantStep(next, row, windowNow)))':
      'SQLite runs one writing transaction at a time, so what was read is still current; another engine may differ',
  },
  "if (!(await q.embedding.spendCode(code.key, use))) throw new Error('a code was spent within a transaction')": {
    'never: !(await q.embedding.spendCode(code.key, use))':
      'SQLite runs one writing transaction at a time, so what was read is still unspent; another engine may differ',
  },
  'const sessionEnded = isOwn || code.gaveKey === null ? false : await q.embedding.endSession(code.gaveKey, now)': {
    'left out: code.gaveKey === null': 'no session has the key null',
  },
  "if (clientId === null) throw refuse('invalid_client')": {
    'never: clientId === null': 'no client has no ID: the refusal is the same',
  },
  "if (redirectUri === null) throw refuse('invalid_redirect_uri')": {
    'never: redirectUri === null': 'no client has registered nothing: the refusal is the same',
  },
  'if (error === null) throw scopes': {
    'never: error === null': 'every refusal of a request whose redirection is verified has a name at the redirect URI',
  },
}

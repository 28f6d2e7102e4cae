import { equivalentInOperations } from './equivalent-in-operations.ts'

/** Lists of what a column of the store may hold, which nothing but types reads. */
const columns: Readonly<Record<string, string>> = {
  'src/domain/app.ts': 'active suspended',
  'src/domain/install.ts': 'pending approved rejected withdrawn active inactive',
  'src/domain/user.ts': 'active disabled',
  'src/domain/webhook-delivery.ts':
    'by_hand gone failing enabled disabled pending delivered failed ' +
    'no_secret address_refused not_resolved not_connected certificate_refused timed_out',
}
/** A list of a page and the parameter in which its address says where it goes on: with another name of either the links lead on all the same. */
const lists: Readonly<Record<string, string>> = {
  'src/pages/account/installs/list-routes.tsx': 'own-installs installs offered-apps apps',
  'src/pages/account/installs/question-routes.tsx': 'install-places places',
}
const without = (names: Readonly<Record<string, string>>, reason: string) =>
  Object.fromEntries(
    Object.entries(names).flatMap(([file, list]) =>
      list.split(' ').map((name) => [`${file}: left out: '${name}'`, reason] as const),
    ),
  )

/**
 * Breaks that change nothing anybody could see, each with the reason. The key is the file and the change, as a run prints
 * them; a line that has moved stays known.
 */
export const equivalent: Readonly<Record<string, string>> = {
  ...without(columns, 'only types read this list'),
  ...without(lists, 'the link that a page gives leads on under any name'),
  ...equivalentInOperations,
  "db/queries/apps.ts: never: part === ''": 'every text has the empty part',
  "db/queries/users.ts: never: part === ''": 'every text has the empty part',
  'db/queries/artifacts.ts: >=: hashes.length > 0': 'deleting none deletes none',
  'db/queries/reader.ts: never: is(part, Table)': 'a table has no entries but its columns',
  'db/queries/audit.ts: <=: a.id < b.id': 'no two events have the same ID',
  'db/queries/grants.ts: >=: pairs > 0': 'deleting none deletes none',
  "db/queries/installs.ts: left out: eq(installs.approval, given('approval'))":
    'what is active is approved: a check of the store',
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
  'src/pages/front-door/ask.tsx: never: start === -1': 'a whole address is the name of no parameter',
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
  'src/http/canonical-json.ts: <=: one < other': 'no two keys of an object are the same',
  "src/http/envelope.ts: left out: typeof scope === 'string'": 'every refusal of this kind names its scope',
  'src/http/page-request.ts: >=: text.length > 256': 'no cursor of ours is as long as that',
  "src/http/page-request.ts: never: start === -1 || !request.url.includes('&', start)":
    'the parser is spared: where nothing or one parameter is, nothing comes twice',
  'src/http/page-request.ts: left out: start === -1': 'the last letter of a URL without a query repeats nothing',
  "src/http/page-request.ts: left out: !request.url.includes('&', start)": 'the parser is spared: one comes once',
  "src/http/router.ts: never: !segment.includes('%')": 'what has no escape is decoded to itself',
  'src/http/router.ts: always yes: isDynamic(pattern)': 'a plain path matches itself alone, which was found before',
  "src/http/router.ts: always yes: pattern.includes(':') || pattern.endsWith('*')":
    'a plain path matches itself alone, which was found before',
  'src/http/router.ts: never: patterns.length === 0': 'among no patterns none is found',
  "src/http/router.ts: always yes: decodeURIComponent(segment) !== ''": 'an escape that can be decoded is something',
  'src/http/rate-limit.ts: left out: wayUsed[place] === 1': 'a place that nobody has used is one of no key',
  'src/http/rate-limit.ts: left out: wayUsed[place] !== 1': 'a place that nobody has used is one of no key',
  'src/http/rate-limit.ts: <=: (backAt[place] ?? 0) < (backAt[least] ?? 0)':
    'of two that owe the same either may give way',
  "src/http/standard/routes.ts: left out: method === 'POST'": 'these paths take nothing but a POST',
  'src/http/strict-json.ts: left out: end !== -1': 'before the beginning no quote is escaped',
  'src/http/upload-scanner.ts: >=: end > this.#keptTo': 'an empty piece adds nothing',
  'src/http/upload-scanner.ts: <=: this.#string.length < longestKey':
    'what is as long as the longest key, and has not ended, is none',
  'src/http/upload-scanner.ts: >=: end - backslashes > start':
    'before the first character of a string there is a quote, or nothing',
  'src/http/upload-scanner.ts: left out: this.#intake === null':
    'a second file has the key of the first, which is refused with the rest',
  'src/http/routes/resources.ts: left out: text !== undefined': 'no kind is called undefined',
  'src/http/shell.ts: left out: mayBegin === true': 'what is awaited and true is true',
  'src/http/shell.ts: left out: authorization !== null': 'nothing begins with no bearer either',
  'src/http/shell.ts: left out: id !== null': 'what was not sent is told as it came',
  'src/http/shell.ts: left out: rateLimit === null': 'the shell has asked a limit before',
  'src/http/shell.ts: left out: state === null': 'the shell has asked a limit before',
  'src/http/server.ts: left out: clearTimeout(timer)': 'by the time it goes off nothing is left to end',
  'src/http/upload-body.ts: >=: performance.now() > deadline':
    'no upload arrives at that very fraction of a millisecond',
  'src/http/limits.ts: left out: !ofAddress.allowed':
    'what is allowed is let through below; the store is spared the question',
  'src/pages/account/installs/question-routes.tsx: always yes: ownsApp(session.user.id, slug)':
    'a rule is something as it stands',
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
}

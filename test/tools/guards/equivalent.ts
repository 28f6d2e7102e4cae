import { equivalentInOperations } from './equivalent-in-operations.ts'
import type { Mutant } from './weave.ts'

/** Each name in a list of names, left out. */
const namesLeftOut = (reason: string, lines: readonly string[]) =>
  Object.fromEntries(
    lines.map((line) => [
      line,
      Object.fromEntries([...line.matchAll(/'[^']*'/g)].map(([name]) => [`left out: ${name}`, reason] as const)),
    ]),
  )

/**
 * Breaks that change nothing visible, each with the reason: by the line of the source in which it stands, then by the
 * change, both as a run prints them. Renaming or moving a file leaves an entry valid. Editing the line does not: a test and
 * every full run fail for entries that match nothing any more, and name them.
 */
export const equivalent: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ...namesLeftOut('only types read this list', [
    "export const appStatuses = ['active', 'suspended'] as const",
    "export const installApprovals = ['pending', 'approved', 'rejected', 'withdrawn'] as const",
    "export const installStates = ['active', 'inactive'] as const",
    "export const userStatuses = ['active', 'disabled'] as const",
    "export const disabledReasons = ['by_hand', 'gone', 'failing'] as const",
    "export const endpointStatuses = ['enabled', 'disabled'] as const",
    "export const deliveryStates = ['pending', 'delivered', 'failed'] as const",
    "'no_secret',",
    "'address_refused',",
    "'not_resolved',",
    "'not_connected',",
    "'certificate_refused',",
    "'no_answer',",
    "'timed_out',",
  ]),
  ...namesLeftOut('the link that a page gives leads on under any name', [
    "const [list, param] = ['install-places', 'places'] as const",
  ]),
  ...equivalentInOperations,
  "part === '' ? undefined : or(contains(apps.slug, part), contains(apps.name, part)),": {
    "never: part === ''": 'every text has the empty part',
  },
  "part === '' ? undefined : or(contains(users.email, part), contains(users.name, part), eq(users.externalId, part)),":
    {
      "never: part === ''": 'every text has the empty part',
    },
  'if (hashes.length > 0) {': {
    '>=: hashes.length > 0': 'deleting none deletes none',
  },
  '.toSorted((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1))': {
    '<=: a.id < b.id': 'no two events have the same ID',
  },
  'if (pairs > 0) await db.delete(tokenPairs).where(inArray(tokenPairs.key, keys))': {
    '>=: pairs > 0': 'deleting none deletes none',
  },
  "eq(installs.approval, given('approval')),": {
    "left out: eq(installs.approval, given('approval'))": 'what is active is approved: a check of the store',
  },
  'if (name === null || !isParameterName(name)) continue': {
    'left out: name === null': 'null is not the name of a parameter',
  },
  'while (first < limbs.length && limbs[first] === 0) first += 1': {
    'left out: first < limbs.length': 'beyond the last limb there is no 0 to leap over',
    '<=: first < limbs.length': 'beyond the last limb there is no 0 to leap over',
  },
  "const epochMs = typeof value === 'string' ? parseTimestamp(value) : null": {
    "always: typeof value === 'string'": 'what is no text has not the form of a time',
  },
  'if (Buffer.byteLength(name) <= longestBytes) return name': {
    '<: Buffer.byteLength(name) <= longestBytes': 'a name that fits is shortened to itself',
    'never: Buffer.byteLength(name) <= longestBytes': 'a name that fits is shortened to itself',
  },
  "const extension = dot > 0 && name.length - dot <= longestExtension ? name.slice(dot) : ''": {
    '>=: dot > 0':
      'a name that is too long has no dot at its beginning, and without any it is longer than an extension may be',
    'left out: dot > 0':
      'a name that is too long has no dot at its beginning, and without any it is longer than an extension may be',
  },
  'return isRowKey(key) && sameHash(Buffer.from(text), Buffer.from(sign(key))) ? key : null': {
    'left out: isRowKey(key)': 'a MAC over what is no key was never given out',
  },
  'if (grant.retryKey !== key || grant.retryUntil === null || nowMs >= grant.retryUntil) return null': {
    'left out: grant.retryUntil === null': 'no moment counts as 1970, which is over',
  },
  "if (text.length > maximumLength || text.includes('%')) return null": {
    'left out: text.length > maximumLength': 'a longer text is no address either; it is only not read to its end',
  },
  'if (network === null) throw new TypeError(`${text} is not a network`)': {
    'never: network === null': 'the networks are written in the source, and all are networks',
  },
  "return typeof parsed === 'object' && parsed !== null ? Object.fromEntries(Object.entries(parsed)) : {}": {
    "left out: typeof parsed === 'object'": 'what is no object has no entries of the names that are told',
  },
  'export const isDelivered = (status: number | null): boolean => status !== null && status >= 200 && status < 300': {
    'left out: status !== null': 'no status is below every status',
  },
  'const parsed: unknown = detail === null ? null : JSON.parse(detail)': {
    'never: detail === null': 'null is JSON for null',
  },
  "return attempts > 0 && since !== null && now - since >= failingForMs ? 'failing' : null": {
    'left out: since !== null': 'only a ping has no such moment, which is asked before',
  },
  "return start === -1 ? '' : url.slice(start + 1)": {
    'never: start === -1': 'a whole address is the name of no parameter',
  },
  'if (rule.mediaTypes.includes(type)) return null': {
    'never: rule.mediaTypes.includes(type)': 'the name before the parameters is the same name',
  },
  'if (key === null) return null': {
    'never: key === null': 'null has the form of a key, and is given back as it is',
  },
  "const carries = request.method === 'POST' || request.method === 'PUT' || request.method === 'PATCH'": {
    "left out: request.method === 'PUT'": 'no route takes a PUT, as yet',
    "left out: request.method === 'PATCH'": 'no route takes a PATCH, as yet',
  },
  "if (length !== null && !/^\\d{1,15}$/.test(length)) return badHeader('Content-Length')": {
    'left out: length !== null': 'what tells no length tells none that is too long',
  },
  'if (length !== null && Number(length) > rule.limitBytes) return tooLarge(rule.limitBytes)': {
    'left out: length !== null': 'what tells no length tells none that is too long',
  },
  "broken ||= decoded === null || hasEscape(text) || (usable > 0 && text[usable - 1] === '=')": {
    'left out: usable > 0': 'before the first character there is no padding',
    '>=: usable > 0': 'before the first character there is no padding',
    'left out: decoded === null': 'what cannot be decoded is broken, which is asked beside it',
  },
  "return text.includes('\\\\') ? text.replaceAll('\\\\/', '/') : text": {
    "always: text.includes('\\\\')": 'where there is none, none is replaced',
  },
  'if (!broken && decoded !== null) intake.take(decoded)': {
    'left out: !broken': 'of what is broken nothing is given out, taken or not',
    'left out: decoded !== null': 'what cannot be decoded is broken, which is asked beside it',
  },
  "const decoded = broken ? null : decode(Buffer.from(waiting).toString('latin1'))": {
    'never: broken': 'what is broken is kept whole, and cannot be decoded at the end either',
  },
  "waiting = broken || decoded === null ? arrived : Buffer.from(text.slice(usable), 'latin1')": {
    'left out: decoded === null': 'what cannot be decoded is broken, which is asked beside it',
  },
  '? Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))': {
    '<=: one < other': 'no two keys of an object are the same',
  },
  "typeof scope === 'string' && /^[\\x21\\x23-\\x5b\\x5d-\\x7e]+(?: [\\x21\\x23-\\x5b\\x5d-\\x7e]+)*$/.test(scope)": {
    "left out: typeof scope === 'string'": 'every refusal of this kind names its scope',
  },
  "const bytes = text.length > longestCursor ? Buffer.alloc(0) : Buffer.from(text, 'base64url')": {
    '>=: text.length > longestCursor': 'no cursor of ours is as long as that',
  },
  "if (start === -1 || !request.url.includes('&', start)) return // one parameter cannot come twice": {
    "never: start === -1 || !request.url.includes('&', start)":
      'the parser is spared: where nothing or one parameter is, nothing comes twice',
    'left out: start === -1': 'the last letter of a URL without a query repeats nothing',
    "left out: !request.url.includes('&', start)": 'the parser is spared: one comes once',
  },
  "if (!segment.includes('%')) return true": {
    "never: !segment.includes('%')": 'what has no escape is decoded to itself',
  },
  "return decodeURIComponent(segment) !== ''": {
    "always yes: decodeURIComponent(segment) !== ''": 'an escape that can be decoded is something',
  },
  'if (wayUsed[place] === 1 && fingerprints[place] === fingerprint) return place': {
    'left out: wayUsed[place] === 1': 'a place that nobody has used is one of no key',
  },
  'const isAt = (place: number, fingerprint: number) => wayUsed[place] === 1 && fingerprints[place] === fingerprint': {
    'left out: wayUsed[place] === 1': 'a place that nobody has used is one of no key',
  },
  'if ((backAt[place] ?? 0) < (backAt[least] ?? 0)) least = place': {
    '<=: (backAt[place] ?? 0) < (backAt[least] ?? 0)': 'of two that owe the same either may give way',
  },
  "while (end !== -1 && isEscaped(text, end)) end = text.indexOf('\"', end + 1)": {
    'left out: end !== -1': 'before the beginning no quote is escaped',
  },
  'if (end > this.#keptTo) this.#json.push(bytes.subarray(this.#keptTo, end))': {
    '>=: end > this.#keptTo': 'an empty piece adds nothing',
  },
  'if (this.#string.length < longestKey) {': {
    '<=: this.#string.length < longestKey': 'what is as long as the longest key, and has not ended, is none',
  },
  'while (end - backslashes > start && bytes[end - 1 - backslashes] === Ascii.backslash) backslashes += 1': {
    '>=: end - backslashes > start': 'before the first character of a string there is a quote, or nothing',
  },
  "this.#state = isFile && this.#intake === null ? 'in_file' : 'in_string'": {
    'left out: this.#intake === null': 'a second file has the key of the first, which is refused with the rest',
  },
  'text !== undefined && Object.hasOwn(scopeToRead, text)': {
    'left out: text !== undefined': 'no kind is called undefined',
  },
  'return id !== null && /^[\\x21-\\x7e]{1,128}$/.test(id) ? id : null': {
    'left out: id !== null': 'what was not sent is told as it came',
  },
  '(rateLimit === null || rateLimit.allowed': {
    'left out: rateLimit === null': 'the shell has asked a limit before',
  },
  'if (state === null || state.policyField === null) return made': {
    'left out: state === null': 'the shell has asked a limit before',
  },
  'clearTimeout(timer)': {
    'left out: clearTimeout(timer)': 'by the time it goes off nothing is left to end',
  },
  "if (performance.now() > deadline) throw refuse('unavailable', { retryAfterSeconds: 1 })": {
    '>=: performance.now() > deadline': 'no upload arrives at that very fraction of a millisecond',
  },
  "if (step.kind === 'sign_in' || visit === null) return seeOther(signInPath(step.request))": {
    'left out: visit === null': 'who is not signed in is asked to, which is asked beside it',
  },
  'if (!(error instanceof PlatformError)) throw error': {
    'never: !(error instanceof PlatformError)': 'an error that is none of ours has no explanation, which is asked next',
  },
  'if (done === null || !Object.hasOwn(sentences, done) || !isFromSameOrigin(door, request)) return null': {
    'left out: done === null': 'no page has a sentence called null',
  },
  "if (error instanceof PlatformError && isCorrectable(error)) return { kind: 'refused', error }": {
    'left out: error instanceof PlatformError': 'no other error has a status',
  },
  "method === 'POST' && isPageRoute(pattern)": {
    "left out: method === 'POST'": 'what comes with another method is never looked at',
  },
  "return url !== null && url.origin === publicUrl && !url.pathname.startsWith('//') ? url.pathname + url.search : '/'":
    {
      'left out: url !== null': 'a path by the rule above can be read',
      'left out: url.origin === publicUrl': 'a path by the rule above is one of this server',
    },
  "liveId: liveId === '' || liveId === undefined ? null : liveId,": {
    'left out: liveId === undefined': 'a field of the right form has all of its parts',
  },
}

/** Why a break changes nothing visible; undefined if no reason is known. */
export const reasonOf = ({ text, change }: Pick<Mutant, 'text' | 'change'>): string | undefined =>
  equivalent[text]?.[change]

/** The entries that match none of these breaks, each as one line. */
export const staleEntries = (mutants: readonly Mutant[]): readonly string[] => {
  const known = new Set(mutants.map(({ text, change }) => `${text}\n${change}`))
  return Object.entries(equivalent).flatMap(([line, changes]) =>
    Object.keys(changes)
      .filter((change) => !known.has(`${line}\n${change}`))
      .map((change) => `${change} in: ${line}`),
  )
}

import { expect, test } from 'bun:test'
import { auditActions } from '../../src/domain/audit-action.ts'
import { errorCodes } from '../../src/domain/errors.ts'
import { formCauses } from '../../src/domain/form-cause.ts'
import { type AuditEvent } from '../../db/database.ts'
import { type Named, type Names } from '../../src/operations/audit/names.ts'
import { groupsWith } from '../../src/pages/audit-events.tsx'
import { auditSentence, plainSentence, refusalWords } from '../../src/pages/audit-words.ts'
import { agoInWords } from '../../src/pages/words.ts'

const id = (prefix: string, digit: string) => `${prefix}_${digit.repeat(32)}`
const [ada, newsletter, third, second] = [id('usr', 'a'), id('app', 'b'), id('ver', 'c'), id('ver', 'd')]
const things: readonly Named[] = [
  { kind: 'user', id: ada, name: 'Ada', email: 'ada@example.com' },
  { kind: 'app', id: newsletter, name: 'Newsletter', slug: 'newsletter' },
  { kind: 'version', id: third, name: '3.0.0', appId: newsletter },
  { kind: 'version', id: second, name: '2.0.0', appId: newsletter },
]
const names: Names = new Map(things.map((named) => [named.id, named]))

const event = (change: Partial<AuditEvent>): AuditEvent => ({
  id: id('aud', '1'),
  at: 0,
  actorKind: 'user',
  actorId: ada,
  appId: newsletter,
  environment: null,
  action: 'app.renamed',
  target: third,
  outcome: 'done',
  reason: null,
  detail: null,
  requestId: id('req', '2'),
  address: '192.0.2.1',
  ...change,
})

const told = (change: Partial<AuditEvent>) => plainSentence(event(change), names)
const toldWithoutNames = (change: Partial<AuditEvent>) => plainSentence(event(change), new Map())

/** The same on a page about that app. */
const toldOnPage = (change: Partial<AuditEvent>) =>
  auditSentence(event(change), names, newsletter)
    .map((word) => (typeof word === 'string' ? word : word.text))
    .join('')

test('an event is told with names and version numbers instead of IDs', () => {
  expect(told({ action: 'version.activated' })).toBe('Ada activated 3.0.0 of Newsletter')
  expect(
    told({
      action: 'version.rolled_back',
      environment: 'production',
      detail: JSON.stringify({ fromVersionId: second }),
    }),
  ).toBe('Ada rolled Newsletter back from 2.0.0 to 3.0.0 in production')
  expect(told({ action: 'user.email_changed', target: ada })).toBe('Ada changed their email address')
  expect(told({ action: 'app.suspended', actorKind: 'operator', actorId: 'root' })).toBe(
    'root (command line) suspended Newsletter',
  )
  expect(told({ action: 'app.transferred', detail: JSON.stringify({ to: ada }) })).toBe('Ada gave Newsletter to Ada')
})

test('a page about one app does not say its name in any sentence, and leaves no hole where it was', async () => {
  for (const action of auditActions) {
    for (const actor of [
      { actorKind: 'user', actorId: ada },
      { actorKind: 'app', actorId: null },
    ] as const) {
      const sentence = toldOnPage({ action, ...actor, environment: 'production' })
      expect([action, sentence]).toEqual([
        action,
        expect.not.stringMatching(/Newsletter|\bof\s*(?:$|[:;,]|in )|\s\s|\s$/),
      ])
    }
  }
  expect(toldOnPage({ action: 'version.created', actorKind: 'app', actorId: null })).toBe('The app uploaded 3.0.0')
  expect(toldOnPage({ action: 'app.suspended' })).toBe('Ada suspended the app')
  expect(toldOnPage({ action: 'app_token.revoked', environment: 'production' })).toBe(
    'Ada revoked an app token in production',
  )
})

test('what no longer exists, and an action of another release, are told as such', () => {
  expect(toldWithoutNames({ action: 'version.approved' })).toBe('A user approved a removed version of a removed app')
  expect(toldWithoutNames({ action: 'spaceship.launched' })).toBe('A user: spaceship.launched')
  expect(toldWithoutNames({ action: 'webhook.pinged' })).toBe(
    'A user sent a ping to a removed webhook endpoint of a removed app',
  )
})

const why = (action: string, reason: string, detail: object | null = null) =>
  refusalWords({ action, outcome: 'refused', reason, detail: detail === null ? null : JSON.stringify(detail) })

test('the reason of a refusal is a sentence about what was refused', () => {
  expect(why('session.create', 'invalid_login')).toBe('The email address or the password is wrong.')
  expect(why('session.create', 'invalid_login', { factor: 'code' })).toContain('second factor')
  expect(why('session.create', 'invalid_login', { way: 'oidc', reason: 'provider_error:access_denied' })).toBe(
    'What the identity provider answered was not accepted: provider error:access denied.',
  )
  expect(why('session.prove', 'invalid_login', { with: 'passkey', reason: 'passkey_unknown' })).toContain('passkey')
  expect(why('session.create', 'unheard_of')).toBe('unheard_of')
  expect(why('user.use_link', 'version_not_eligible')).toContain('link')
  expect(why('member.use_invitation', 'right_missing')).toContain('another email address')
  expect(why('install.approved', 'version_not_eligible')).toBe('Its state does not allow this.')
  expect(why('version.submitted', 'version_not_eligible')).toBe('The status of the version does not allow this.')
  expect(refusalWords({ action: 'session.create', outcome: 'done', reason: null })).toBeNull()
})

/** Words of sentences, and the nouns of the events in which they may stand. */
const foreign: readonly (readonly [word: RegExp, nouns: RegExp])[] = [
  [/\b(this|the|such|earlier) version\b/i, /^(version|app)$/],
  [/draft/i, /^version$/],
  [/production of this app/i, /^(version|app)$/],
  [/artifact/i, /^version$/],
  [/email address or the password/i, /^(session|user)$/],
  [/the password is right/i, /^session$/],
  [/another user has this email/i, /^user$/],
  [/owns apps/i, /^user$/],
  [/website or store/i, /^resource$/],
  [/live secrets/i, /^(credential|webhook)$/],
  [/the token belongs/i, /^(token|bearer|app_token)$/],
  [/service key/i, /^(service_key|command|user|sign_in|app|member)$/],
  [/invitation/i, /^member$/],
  [/\blink\b/i, /^user$/],
]

test('no sentence of a refusal speaks of another thing than the event, whatever it was refused with', () => {
  const faults: string[] = []
  for (const action of auditActions) {
    const [noun = ''] = action.split('.')
    for (const reason of [...errorCodes, ...Object.keys(formCauses)]) {
      const sentence = why(action, reason) ?? ''
      expect(sentence).toMatch(/^[A-Z].*\.$/)
      for (const [word, nouns] of foreign)
        if (word.test(sentence) && !nouns.test(noun)) faults.push(`${action} ${reason}: ${sentence}`)
    }
  }
  expect(faults).toEqual([])
})

test('every event of the program has a sentence without IDs and a group in the filter, with any detail or none', () => {
  const groups = new Set(groupsWith('', 'operators').map(([group]) => group))
  for (const action of auditActions) {
    for (const detail of [null, '{}', '{"to":null,"events":3,"names":["a"],"added":["site:read"]}']) {
      for (const known of [names, new Map()]) {
        const sentence = plainSentence(event({ action, detail, environment: 'development' }), known)
        expect(sentence).toMatch(/^[A-Z](?!.*(undefined|null|NaN|\[object|  |_[0-9a-f]{32}))/)
        expect(sentence).not.toContain(action)
      }
    }
    expect([action, groups.has(action.split('.')[0] ?? '')]).toEqual([action, true])
  }
})

/** A sentence that ends before its value, has a mark or a number in its place, or says nothing after a colon. */
const hole =
  /\((not recorded|removed)\)|\b0 |[:;,]\s*$|\b(a|an|and|as|at|by|from|of|that|the|the command|to)\s*$|\s\s|\s$/

test('no sentence has a hole where the event lacks a value, a target, a name or an environment', () => {
  for (const action of auditActions) {
    for (const detail of [null, '{}', '{"to":null,"from":null,"names":[],"added":[]}']) {
      for (const target of [null, '', third]) {
        for (const appId of [null, newsletter]) {
          const sentence = plainSentence(event({ action, detail, target, appId }), new Map())
          expect([action, sentence]).toEqual([action, expect.not.stringMatching(hole)])
        }
      }
    }
  }
  expect(told({ action: 'credential.rotated' })).toEndWith('the old one ends after its grace period')
  expect(told({ action: 'credential.rotated', detail: '{"graceHours":0}' })).toEndWith('the old one ended at once')
  expect(told({ action: 'factor.added' })).toBe('Ada added a second factor')
})

test('every action that the code names is in the list of actions', async () => {
  const faults: string[] = []
  for (const pattern of ['src/**/*.ts', 'db/**/*.ts']) {
    for await (const file of new Bun.Glob(pattern).scan(`${import.meta.dir}/../..`)) {
      const code = await Bun.file(`${import.meta.dir}/../../${file}`).text()
      for (const [, action = ''] of code.matchAll(/\baction: '([a-z_]+\.[a-z_.]+)'/g)) {
        if (!auditActions.some((known) => known === action)) faults.push(`${file}: ${action}`)
      }
    }
  }
  expect(faults).toEqual([])
})

test('a time is told by how long ago it was, and by its day after a month', () => {
  const now = Date.UTC(2026, 7, 31, 12)
  const ago = (minutes: number) => agoInWords(now - minutes * 60_000, now)
  expect([ago(0), ago(1), ago(59), ago(60), ago(1_439), ago(1_440), ago(30 * 1_440)]).toEqual([
    'just now',
    '1 min ago',
    '59 min ago',
    '1 h ago',
    '23 h ago',
    '1 d ago',
    '2026-08-01',
  ])
  expect(ago(-60 * 24)).toBe('2026-09-01')
})

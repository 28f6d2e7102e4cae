import { beforeAll, describe, expect, test } from 'bun:test'
import { effects } from '../../src/pages/proof.ts'
import { trace } from '../support/operator.ts'
import { signIn } from '../support/sign-in.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { addUser, type Login } from '../support/world.ts'
import { earlier } from './support/earlier.ts'
import { genuineTicket } from './support/genuine-ticket.ts'
import { addOperator } from './support/operator-world.ts'
import { formTable } from './support/page-table.ts'
import { plainBrowser, type PlainBrowser, type Seen } from './support/plain-browser.ts'

// Every form says what it does, and that says whether it asks. Here each is sent by somebody with a password, who proved it too long
// ago.

const world = await worldOfFile()
const { platform } = world
const forms = formTable(platform)
const table = forms.flatMap(({ pattern, effect }) => (effect === null ? [] : [[pattern, effect] as const]))
let operator: Login
beforeAll(async () => {
  operator = await addOperator(platform, 'Olive Operator')
})

const signedInSince = async (minutes: number, login: Login, { platform, server } = world): Promise<PlainBrowser> => {
  const browser = plainBrowser(server.url)
  browser.cookies.set('session', (await signIn(earlier(platform, minutes), trace, login)).sessionToken)
  return browser
}

/** Something that does not exist, except for the app: the proof is asked for before anything is looked up. */
const pathOf = (pattern: string): string =>
  pattern.replaceAll(/:[^/]+/g, (name) => (name === ':slug' ? world.app.slug : 'nothing'))

/** Where a form of the step leads that somebody sends with this session. */
const sendStep = async (step: string, minutes: number): Promise<string> => {
  // A person of its own for the steps that end all their sessions, also those that began earlier.
  const login = step.startsWith('/account') ? await addUser(platform) : world.user
  const browser = await signedInSince(minutes, step.startsWith('/desk') ? operator : login)
  return (await send(browser, step)).headers.get('location') ?? ''
}

const send = async (browser: PlainBrowser, step: string, at = world): Promise<Seen> => {
  const path = pathOf(step)
  const isUpload = /\/versions(\/:version\/edit)?$/.test(step)
  const ticket = await genuineTicket(at, browser, path)
  return await browser[isUpload ? 'upload' : 'post'](path, { ticket })
}

test('every form of the account, the console and the desk says what it does', () => {
  expect(forms.filter(({ effect }) => effect === null)).toEqual([])
  expect(forms.length).toBeGreaterThan(80)
})

test('what gives something to somebody, destroys or weakens it needs a proof', () => {
  for (const [effect, proof] of Object.entries(effects)) {
    expect([effect, proof !== 'none']).toEqual([
      effect,
      /^(gives|sends|destroys|weakens|sets up|takes scopes)/.test(effect),
    ])
  }
})

/** By its address alone: where a form with such an address can only take away, read or repeat something. */
const givesNothing =
  /\/(revoke|end|end-all|end-others|revoke-all|export|check|ping|resend[a-z-]*|reject|suspend|end-access)$/
const givesSomething =
  /\/(rotate|role|transfer|credentials|enable|activate|approve|publish|make-operator|reset-link|(?<!\/versions\/:version\/)delete|new)$/

test('no address of a form speaks against what the form says', () => {
  for (const [pattern, effect] of table.filter(([pattern]) => pattern !== '/console/new')) {
    if (givesNothing.test(pattern)) expect([pattern, effects[effect]]).toEqual([pattern, 'none'])
    if (givesSomething.test(pattern)) expect([pattern, effects[effect]]).not.toEqual([pattern, 'none'])
  }
})

describe('eleven minutes after the sign-in', () => {
  for (const [step, effect] of table) {
    const asks = effects[effect] !== 'none'
    test(`${step}, which ${effect}, asks for ${asks ? 'a proof' : 'nothing'}`, async () => {
      expect((await sendStep(step, 11)).startsWith('/account/prove?')).toBe(asks)
    })
  }
})

test('within ten minutes of the sign-in no form asks', async () => {
  const asking: string[] = []
  for (const [step] of table) if ((await sendStep(step, 9)).startsWith('/account/prove?')) asking.push(step)
  expect(asking).toEqual([])
})

const mayEnd = /\/(rotate|remove|disable|password|prove|transfer|recovery-codes)$/

const crowded = await worldOfFile({
  env: { RATE_LIMIT: 'on', RATE_LIMIT_WRITE: '2/86400', RATE_LIMIT_READ: '4/86400' },
})

/** With another session, somebody is refused a page, a form, and the end of something. */
const useUpShares = async (login: Login): Promise<void> => {
  const thief = await signedInSince(0, login, crowded)
  const takes = [
    () => thief.get('/account'),
    () => thief.post('/console/new', {}),
    () => thief.post('/account/apps/nothing/revoke', {}),
  ]
  for (const take of takes) for (let sent = 0; (await take()).status !== 429; sent += 1) expect(sent).toBeLessThan(5)
}

describe('somebody with a stolen session who uses up every share that they can', () => {
  let boss: Login
  beforeAll(async () => {
    boss = await addOperator(crowded.platform, 'Bea Boss')
    await useUpShares(boss)
    await useUpShares(crowded.user)
  })

  /** What ends something, also if it asks for a proof because it can give something too. */
  const endings = [
    ...table.flatMap(([step, effect]) => (effect === 'takes away' || effect === 'destroys an app' ? [step] : [])),
    ...table.flatMap(([step]) => (mayEnd.test(step) ? [step] : [])),
    '/sign-out',
    '/oauth/authorize/switch-account',
    '/installs/:id/end',
  ]

  test.each([...new Set(endings)])('does not keep the owner from %s', async (step) => {
    const owner = await signedInSince(0, step.startsWith('/desk') ? boss : crowded.user, crowded)
    expect((await owner.get('/account/sessions')).status).toBe(200)
    expect((await send(owner, step, crowded)).status).not.toBe(429)
  })

  test('gets no more from another session where something is made', async () => {
    const owner = await signedInSince(0, crowded.user, crowded)
    for (const step of ['/console/new', '/account/email', '/console/:slug/credentials', '/apps/:slug/install']) {
      expect((await send(owner, step, crowded)).status).toBe(429)
    }
  })
})

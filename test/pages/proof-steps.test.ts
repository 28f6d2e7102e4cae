import { beforeAll, describe, expect, test } from 'bun:test'
import { trace } from '../support/operator.ts'
import { signIn } from '../support/sign-in.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { addUser, type Login } from '../support/world.ts'
import { earlier } from './support/earlier.ts'
import { genuineTicket } from './support/genuine-ticket.ts'
import { addOperator } from './support/operator-world.ts'
import { pageTable } from './support/page-table.ts'
import { plainBrowser, type PlainBrowser } from './support/plain-browser.ts'
import { proofTable } from './support/proof-table.ts'

// The table says which forms ask. Here each is sent by somebody with a password, who proved it too long ago.

const table = Object.values(proofTable).flat()

const world = await worldOfFile()
const { platform } = world
let operator: Login
beforeAll(async () => {
  operator = await addOperator(platform, 'Olive Operator')
})

const signedInSince = async (minutes: number, login: Login): Promise<PlainBrowser> => {
  const browser = plainBrowser(world.server.url)
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
  const path = pathOf(step)
  const isUpload = /\/versions(\/:version\/edit)?$/.test(step)
  const ticket = await genuineTicket(world, browser, path)
  const { headers } = await browser[isUpload ? 'upload' : 'post'](path, { ticket })
  return headers.get('location') ?? ''
}

test('the table has every form of the account, the console and the desk', () => {
  const forms = pageTable(platform).filter(
    ({ method, pattern }) => method === 'POST' && /^\/(account|console|desk)\//.test(pattern),
  )
  expect(table.map(([step]) => step).toSorted()).toEqual(forms.map(({ pattern }) => pattern).toSorted())
})

describe('eleven minutes after the sign-in', () => {
  for (const [step, asks, why] of table) {
    test(`${step} ${asks === 'asks' ? 'asks for a proof' : 'asks for nothing'}: ${why}`, async () => {
      expect((await sendStep(step, 11)).startsWith('/account/prove?')).toBe(asks === 'asks')
    })
  }
})

test('within ten minutes of the sign-in no form asks', async () => {
  const asking: string[] = []
  for (const [step] of table) if ((await sendStep(step, 9)).startsWith('/account/prove?')) asking.push(step)
  expect(asking).toEqual([])
})

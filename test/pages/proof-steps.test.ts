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

// Which forms of the account, the console and the desk ask the person to prove again that it is them. The rule: a form asks if one
// of its fields can give a right, a secret, an app or a version to somebody, or destroy copies.

type Row = readonly [step: string, asks: 'asks' | '-', why: string]

const account: readonly Row[] = [
  ['/account/email', 'asks', 'whoever has the address can reset the password'],
  ['/account/factors/passkeys/:id/remove', 'asks', 'leaves the password alone to sign in with'],
  ['/account/factors/passkeys/new', 'asks', 'gives a way in'],
  ['/account/factors/recovery-codes', 'asks', 'gives secrets'],
  ['/account/factors/totp', 'asks', 'gives a way in'],
  ['/account/factors/totp/remove', 'asks', 'leaves the password alone to sign in with'],
  ['/account/apps/:clientId/authorizations/:grantId/revoke', '-', 'takes away'],
  ['/account/apps/:clientId/revoke', '-', 'takes away'],
  ['/account/apps/revoke-all', '-', 'takes away'],
  ['/account/password', '-', 'asks for the password itself'],
  ['/account/prove', '-', 'is the proof'],
  ['/account/sessions/:key/end', '-', 'takes away'],
  ['/account/sessions/end-all', '-', 'takes away'],
  ['/account/sessions/end-others', '-', 'takes away'],
]

const developers: readonly Row[] = [
  ['/console/:slug/credentials', 'asks', 'gives a secret'],
  ['/console/:slug/credentials/rotate', 'asks', 'gives a secret'],
  ['/console/:slug/delete', 'asks', 'destroys the app'],
  ['/console/:slug/members', 'asks', 'gives rights'],
  ['/console/:slug/members/:id/role', 'asks', 'gives rights'],
  ['/console/:slug/redirect-uris', 'asks', 'codes are sent there'],
  ['/console/:slug/redirect-uris/remove', 'asks', 'changes where codes are sent'],
  ['/console/:slug/rollbacks', 'asks', 'gives everybody another version'],
  ['/console/:slug/scopes', 'asks', 'gives the app scopes'],
  ['/console/:slug/transfer', 'asks', 'gives the app away'],
  ['/console/:slug/webhooks', 'asks', 'gives a secret, and events'],
  ['/console/:slug/webhooks/:id/edit', 'asks', 'gives events to another address'],
  ['/console/:slug/webhooks/:id/enable', 'asks', 'gives events again'],
  ['/console/:slug/webhooks/:id/rotate', 'asks', 'gives a secret'],
  ['/console/:slug/credentials/:id/revoke', '-', 'takes away'],
  ['/console/:slug/installs/export', '-', 'reads'],
  ['/console/:slug/invitations/:id/revoke', '-', 'takes away'],
  ['/console/:slug/leave', '-', 'takes away'],
  ['/console/:slug/members/:id/remove', '-', 'takes away'],
  ['/console/:slug/name', '-', 'renames'],
  ['/console/:slug/trail/export', '-', 'reads'],
  ['/console/:slug/versions', '-', 'a draft: nobody gets it before a review'],
  ['/console/:slug/versions/:version/edit', '-', 'a draft: nobody gets it before a review'],
  ['/console/:slug/versions/:version/submit', '-', 'asks an operator, who decides'],
  ['/console/:slug/versions/:version/withdraw', '-', 'takes away'],
  ['/console/:slug/webhooks/:id/disable', '-', 'takes away'],
  ['/console/:slug/webhooks/:id/ping', '-', 'repeats what the address gets'],
  ['/console/:slug/webhooks/:id/remove', '-', 'takes away'],
  ['/console/:slug/webhooks/:id/resend', '-', 'repeats what the address gets'],
  ['/console/:slug/webhooks/:id/resend-failed', '-', 'repeats what the address gets'],
  ['/console/:slug/webhooks/:id/resend-since', '-', 'repeats what the address gets'],
  ['/console/new', '-', 'an app of their own, without a secret'],
]

const operators: readonly Row[] = [
  ['/desk/apps/:slug/activate', 'asks', 'gives the app its secrets and tokens again'],
  ['/desk/apps/:slug/credentials', 'asks', 'gives a secret'],
  ['/desk/apps/:slug/credentials/:id/confirm', 'asks', 'gives a secret its rights again'],
  ['/desk/apps/:slug/credentials/rotate', 'asks', 'gives a secret'],
  ['/desk/apps/:slug/delete', 'asks', 'destroys the app'],
  ['/desk/apps/:slug/settings/redirect-uris', 'asks', 'codes are sent there'],
  ['/desk/apps/:slug/settings/redirect-uris/remove', 'asks', 'changes where codes are sent'],
  ['/desk/apps/:slug/settings/scopes', 'asks', 'gives the app scopes'],
  ['/desk/apps/:slug/transfer', 'asks', 'gives the app away'],
  ['/desk/apps/:slug/undelete', 'asks', 'gives the app back'],
  ['/desk/apps/new', 'asks', 'gives an app to its owner'],
  ['/desk/backups', 'asks', 'destroys older backups'],
  ['/desk/installs/:id/approve', 'asks', 'gives an app its rights'],
  ['/desk/installs/new', 'asks', 'gives an app its rights'],
  ['/desk/reviews/:slug/:version/activate', 'asks', 'gives everybody a version'],
  ['/desk/reviews/:slug/:version/approve', 'asks', 'gives a version its rights'],
  ['/desk/reviews/:slug/:version/publish', 'asks', 'gives everybody a version'],
  ['/desk/service-keys/:id/confirm', 'asks', 'gives a secret its rights again'],
  ['/desk/service-keys/:id/rotate', 'asks', 'gives a secret'],
  ['/desk/service-keys/new', 'asks', 'gives a secret'],
  ['/desk/users/:id/confirm', 'asks', 'gives a way in again'],
  ['/desk/users/:id/disable', 'asks', 'can give the apps of the user to somebody'],
  ['/desk/users/:id/enable', 'asks', 'gives the user their rights again'],
  ['/desk/users/:id/make-operator', 'asks', 'gives every right'],
  ['/desk/users/:id/reset-factors', 'asks', 'leaves the password alone to sign in with'],
  ['/desk/users/:id/reset-link', 'asks', 'gives a way in'],
  ['/desk/users/:id/set-email', 'asks', 'whoever has the address can reset the password'],
  ['/desk/users/new', 'asks', 'gives a way in'],
  ['/desk/apps/:slug/credentials/:id/revoke', '-', 'takes away'],
  ['/desk/apps/:slug/end-access', '-', 'takes away'],
  ['/desk/apps/:slug/settings/name', '-', 'renames'],
  ['/desk/apps/:slug/suspend', '-', 'takes away'],
  ['/desk/audit/export', '-', 'reads'],
  ['/desk/backups/:name/check', '-', 'reads'],
  ['/desk/installs/:id/deactivate', '-', 'takes away'],
  ['/desk/installs/:id/reject', '-', 'takes away'],
  ['/desk/installs/export', '-', 'reads'],
  ['/desk/reviews/:slug/:version/reject', '-', 'takes away'],
  ['/desk/service-keys/:id/revoke', '-', 'takes away'],
  ['/desk/users/:id/end-access', '-', 'takes away'],
  ['/desk/users/:id/rename', '-', 'renames'],
  ['/desk/users/:id/withdraw-operator', '-', 'takes away'],
]

const table = [...account, ...developers, ...operators]

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

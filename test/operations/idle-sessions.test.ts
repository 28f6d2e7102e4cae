import { afterEach, beforeEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { refuse } from '../../src/domain/errors.ts'
import { createApp } from '../../src/operations/apps/apps.ts'
import { actingAs } from '../../src/operations/acting-as.ts'
import { exchangeInstallSessionCode, issueInstallSessionCode } from '../../src/operations/embedding/embedding.ts'
import type { Platform } from '../../src/operations/platform.ts'
import { listSessions } from '../../src/operations/sessions/own-sessions.ts'
import { signIn } from '../support/sign-in.ts'
import {
  authenticateEmbeddedSession,
  authenticateSession,
  type SessionCaller,
} from '../../src/operations/authenticate.ts'
import { addEmbeddedInstall, embedOrigin } from '../support/embedding.ts'
import { openAsOperator, trace } from '../support/operator.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { addApp, addUser, type Login } from '../support/world.ts'
import { refusalOf } from './support/owner.ts'

let platform: Platform
let user: Login
let now: number
let sessionToken: string
/** A session may be idle for 100 seconds. A use is recorded once in a tenth of that. */
beforeEach(async () => {
  const opened = await openAsOperator(join(temporaryFolder(), 'idle.db'))
  now = opened.clock.now()
  const lifetimes = { ...opened.lifetimes, sessionIdle: 100 }
  platform = { ...opened, lifetimes, clock: { ...opened.clock, now: () => now } }
  user = await addUser(platform)
  sessionToken = (await signIn(platform, trace, user)).sessionToken
})
afterEach(async () => await platform.database.close())

const pass = (seconds: number) => void (now += seconds * 1000)
const caller = async (): Promise<SessionCaller | null> => {
  const found = await authenticateSession(platform, sessionToken)
  while (platform.running.size > 0) await Bun.sleep(1) // no answer waits for the record of the use
  return found
}
const live = async (): Promise<SessionCaller> => {
  const found = await caller()
  if (found === null) throw new Error('the session does not live')
  return found
}
const everything = { limit: 50, cursor: null } as const

test('an unused session ends, and a used one continues', async () => {
  for (let use = 0; use < 5; use += 1) {
    pass(90)
    expect(await caller()).not.toBeNull()
  }
  pass(99.999)
  expect(await caller()).not.toBeNull()
  pass(100)
  expect(await caller()).toBeNull()
  pass(-1)
  expect(await caller()).not.toBeNull()
})

test('the list says when and from where a session was last used, to a tenth of the idle time', async () => {
  const use = async (address: string) => {
    const found = await authenticateSession(platform, sessionToken, now, address)
    while (platform.running.size > 0) await Bun.sleep(1)
    if (found === null) throw new Error('the session does not live')
    const [first] = (await listSessions(platform, found, everything)).data
    return [first?.address, first?.usedAt]
  }
  pass(50)
  expect(await use('192.0.2.8')).toEqual(['192.0.2.8', now])
  const recorded = now
  pass(5)
  expect(await use('192.0.2.9')).toEqual(['192.0.2.8', recorded])
})

test('a session that becomes idle after authentication is refused in the transaction, and no list shows it', async () => {
  const session = await live()
  const other = await authenticateSession(platform, (await signIn(platform, trace, user)).sessionToken)
  if (other === null) throw new Error('not signed in')
  expect((await listSessions(platform, other, everything)).data).toHaveLength(2)
  expect(await platform.database.queries.health.liveSessions(now, 10, now - 100_000)).toMatchObject({ count: 2 })
  pass(100)
  const fields = { ownerEmail: user.email, name: 'N', slug: 'idle-app', scopes: 'site:read' }
  const make = createApp(actingAs(platform, trace, session), trace, { kind: 'user', id: user.id }, fields)
  expect(await refusalOf(make)).toBe('login_required')
  expect((await listSessions(platform, other, everything)).data).toEqual([])
  expect(await platform.database.queries.health.liveSessions(now, 10, now - 100_000)).toMatchObject({ count: 0 })
})

test('an embedded session and an install-session code need a user session that is in use', async () => {
  const app = await addApp(platform, user)
  const install = await addEmbeddedInstall(platform, app, user)
  const { clientId } = app.production
  const exchange = async (code: string) =>
    await exchangeInstallSessionCode(platform, trace, { clientId, code, origin: embedOrigin(app) })
  const open = async () => (await issueInstallSessionCode(platform, trace, await live(), install)).code
  const page = (await exchange(await open())).sessionToken
  const isOpen = async () => (await authenticateEmbeddedSession(platform, page)).caller !== null
  pass(90)
  expect(await isOpen()).toBe(true)
  const code = await open() // uses the session
  pass(50)
  expect(await isOpen()).toBe(true)
  pass(50)
  expect(await isOpen()).toBe(false)
  expect(await refusalOf(exchange(code))).toBe('invalid_grant')
})

/** The platform with a count of its transactions, which fail if a fault is given, and of those that recorded a use. */
const counting = (fault: Error | null = null) => {
  let asked = 0
  let recorded = 0
  const { database } = platform
  const transaction: typeof database.transaction = async (work, options) => {
    asked += 1
    if (fault !== null) throw fault
    const result = await database.transaction(work, options)
    if (result === true) recorded += 1
    return result
  }
  const watched: Platform = { ...platform, database: Object.assign(Object.create(database), { transaction }) }
  Object.defineProperty(watched.database, 'queries', { get: () => database.queries })
  return { watched, asked: () => asked, recorded: () => recorded }
}

test('a use is recorded once in a tenth of the idle time, even for many simultaneous requests', async () => {
  const { watched, recorded } = counting()
  const together = async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, async () => await authenticateSession(watched, sessionToken)),
    )
    for (const answer of answers) expect(answer).not.toBeNull()
    while (platform.running.size > 0) await Bun.sleep(1)
    return recorded()
  }
  expect(await together()).toBe(0)
  pass(9.999)
  expect(await together()).toBe(0)
  pass(0.001)
  expect(await together()).toBe(1)
  pass(9)
  expect(await together()).toBe(1)
  pass(1)
  expect(await together()).toBe(2)
})

test('a store that takes no writes does not refuse live sessions', async () => {
  const { watched, asked } = counting(refuse('unavailable'))
  pass(50)
  expect(await authenticateSession(watched, sessionToken)).not.toBeNull()
  expect(asked()).toBe(1)
  await Bun.sleep(0)
  expect(await authenticateSession(watched, sessionToken)).not.toBeNull()
  expect(asked()).toBe(2) // the next request tries again
})

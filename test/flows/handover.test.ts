import { fetchPatiently } from '../support/fetch-patiently.ts'
import { describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { serviceRights } from '../../src/domain/service-key.ts'
import { createServiceKey, revokeServiceKey } from '../../src/operations/service-keys/change-service-keys.ts'
import { notCompleted } from '../../src/operations/sessions/handover.ts'
import { linkUser, putBuilderUser, createUser } from '../../src/operations/users/users.ts'
import { setUserStatus } from '../../src/operations/users/set-user-status.ts'
import { auditEvents } from '../support/audit-events.ts'
import { askBeside } from '../support/beside.ts'
import { operator, trace } from '../support/operator.ts'
import { addApp } from '../support/world.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { expectRefusal } from './support/expect-refusal.ts'
import { send } from './support/send.ts'

const world = await worldOfFile({
  env: { SIGN_IN: 'handover', SIGN_IN_URL: 'https://builder.example/apps/sign-in', PASSWORD_FOR: 'operators' },
})
const { platform } = world
const { url } = world.server
const input = { name: 'Builder', rights: serviceRights, networks: [], expiresInDays: null }
const { secret } = await createServiceKey(platform, trace, operator, input)
const stated = { externalId: 'ada', email: 'ada@builder.example', name: 'Ada', pictureUrl: null, status: null }
await putBuilderUser(platform, trace, operator, stated)
const password = 'correct horse battery'
await createUser(platform, trace, operator, { email: 'boss@example.com', name: 'Boss', password, isOperator: true })
await linkUser(platform, trace, operator, { email: 'boss@example.com', externalId: 'boss' })

const ask = async (path: string, body: object) =>
  await send(url, 'POST', `~/api/management${path}`, { token: secret, body: JSON.stringify(body) })

/** A browser: it keeps cookies and follows no redirect. */
const browser = () => {
  const cookies = new Map<string, string>()
  const visit = async (address: string) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await fetchPatiently(new URL(address, url), { redirect: 'manual', headers: { cookie } })
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '') cookies.delete(name)
      else cookies.set(name, value)
    }
    return { status: answer.status, location: answer.headers.get('location'), text: await answer.text() }
  }
  return Object.assign(visit, { cookies })
}
type Browser = ReturnType<typeof browser>

/** Text that cannot be packed. */
const randomText = (length: number): string => randomBytes(length).toString('base64url').slice(0, length)

/** Opens a page that needs a session, and is sent to the builder. */
const leave = async (visit: Browser, path = '/account') => {
  const { location } = await visit(path)
  const away = await visit(location ?? '')
  const target = new URL(away.location ?? '')
  return { target, request: target.searchParams.get('request') ?? '' }
}
const accept = async (request: string, externalId = 'ada') =>
  await ask(`/sign-in-requests/${request}/accept`, { externalId })
const reject = async (request: string) => await ask(`/sign-in-requests/${request}/reject`, { reason: 'No.' })
/** The same address at the server under test, whose public name is another. */
const here = (redirectTo: string) => redirectTo.slice(new URL(redirectTo).origin.length)

describe('signing in through the builder', () => {
  test('goes there with a request, and comes back to the page that was asked for', async () => {
    const visit = browser()
    const { target, request } = await leave(visit, '/account/sessions')
    expect(target.origin + target.pathname).toBe('https://builder.example/apps/sign-in')
    expect(request).toMatch(/^apsr_[0-9A-Za-z]{71}$/)
    const { body } = await accept(request)
    const back = await visit(here(body.redirectTo))
    expect([back.status, back.location]).toEqual([303, '/account/sessions'])
    expect((await visit('/account')).text).toContain('Ada')
    const created = (await auditEvents(platform)).findLast(({ action }) => action === 'session.created')
    expect(created?.detail).toContain('"way":"handover"')
  })

  test('is completed once, only by the browser that asked, and only with the verifier', async () => {
    const [own, other] = [browser(), browser()]
    const { request } = await leave(own)
    await leave(other)
    const { body } = await accept(request)
    const path = here(body.redirectTo)
    expect((await other(path)).status).toBe(400)
    expect((await browser()(path)).status).toBe(400)
    expect((await own(path.replace(/verifier=.{3}/, 'verifier=xxx'))).status).toBe(400)
    expect((await own(path)).status).toBe(303)
    expect((await own(path)).status).toBe(400)
    expectRefusal(await accept(request), 'version_not_eligible')
  })

  test('lets every tab of a browser come back to its own page, in any order, and each once', async () => {
    const visit = browser()
    const paths = ['/account', '/account/sessions', '/account/apps']
    const tabs = await Promise.all(paths.map(async (path) => ({ path, left: await leave(visit, path) })))
    for (const { path, left } of tabs.toReversed()) {
      const { redirectTo } = (await accept(left.request)).body
      expect((await visit(here(redirectTo))).location).toBe(path)
      expect((await visit(here(redirectTo))).status).toBe(400)
    }
  })

  test('keeps no more tabs than a Cookie header can carry, and tells the oldest', async () => {
    const visit = browser()
    const requests: string[] = []
    for (const tab of [1, 2, 3, 4, 5]) {
      const { location } = await visit(`/sign-in/handover?return_to=/account%3Ftab=${tab}${randomText(1_100)}`)
      requests.push(new URL(location ?? '').searchParams.get('request') ?? '')
    }
    const ends = await Promise.all(
      requests.map(async (request) => await visit(here((await accept(request)).body.redirectTo))),
    )
    expect(ends.map(({ status }) => status)).toEqual([400, 400, 303, 303, 303])
    expect(ends[0]?.text).toContain('in too many tabs at once')
  })

  test('goes on to an address of any length that it accepts, and refuses a longer one at once', async () => {
    for (const length of [100, 1_000, 2_000, 2_850, 3_000, 3_300, 3_600, 5_000, 20_000]) {
      const visit = browser()
      const path = `/account?way=${randomText(length)}`
      const { status, location, text } = await visit(
        `/sign-in/handover?${new URLSearchParams({ return_to: path }).toString()}`,
      )
      if (status === 400) expect(text).toContain('too long to be remembered while you sign in at builder.example')
      else {
        const { redirectTo } = (await accept(new URL(location ?? '').searchParams.get('request') ?? '')).body
        expect((await visit(here(redirectTo))).location).toBe(path)
      }
      expect([length, status]).toEqual([length, length <= 3_000 ? 303 : 400])
    }
  })

  test('tells the person, the log and the audit log why it was not completed', async () => {
    const [own, other, late] = [browser(), browser(), browser()]
    const { request } = await leave(own)
    const path = here((await accept(request)).body.redirectTo)
    await putBuilderUser(platform, trace, operator, { ...stated, externalId: 'bea', email: 'bea@builder.example' })
    const closed = here((await accept((await leave(late)).request, 'bea')).body.redirectTo)
    await setUserStatus(platform, trace, operator, { email: 'bea@builder.example', status: 'disabled' })
    for (const [reason, visit, address] of [
      ['not_begun_here', other, path],
      ['answer_invalid', own, path.replace(/verifier=.{3}/, 'verifier=xxx')],
      ['account_closed', late, closed],
    ] as const) {
      const { status, text } = await visit(address)
      expect([reason, status, text.includes(notCompleted[reason])]).toEqual([reason, 400, true])
      const refused = (await auditEvents(platform)).findLast(({ outcome }) => outcome === 'refused')
      expect(JSON.parse(refused?.detail ?? '{}')).toEqual({ way: 'handover', reason })
      expect(world.server.log()).toMatch(
        new RegExp(`"errorCode":"${reason}".*${refused?.requestId}|${refused?.requestId}.*"errorCode":"${reason}"`),
      )
    }
  })

  test('does not work with the answer to another request', async () => {
    const [own, attacker] = [browser(), browser()]
    const mine = await leave(own)
    const theirs = await leave(attacker)
    await accept(mine.request)
    const { body } = await accept(theirs.request)
    const verifier = new URL(body.redirectTo).searchParams.get('verifier') ?? ''
    const mixed = new URLSearchParams({ request: mine.request, verifier })
    expect((await own(`/sign-in/complete?${mixed.toString()}`)).status).toBe(400)
  })

  test('never signs an operator in, nor a user who is unknown or disabled', async () => {
    const { request } = await leave(browser())
    expectRefusal(await accept(request, 'boss'), 'operator_protected')
    expectRefusal(await accept(request, 'nobody'), 'record_not_found')
    await putBuilderUser(platform, trace, operator, { ...stated, externalId: 'gone', email: 'gone@builder.example' })
    await setUserStatus(platform, trace, operator, { email: 'gone@builder.example', status: 'disabled' })
    expectRefusal(await accept(request, 'gone'), 'version_not_eligible')
  })

  test('is refused for a user who is disabled between the answer and the return', async () => {
    await putBuilderUser(platform, trace, operator, { ...stated, externalId: 'late', email: 'late@builder.example' })
    const visit = browser()
    const { request } = await leave(visit)
    const { body } = await accept(request, 'late')
    await setUserStatus(platform, trace, operator, { email: 'late@builder.example', status: 'disabled' })
    expect((await visit(here(body.redirectTo))).status).toBe(400)
  })

  test('takes no request that this server did not make', async () => {
    const { request } = await leave(browser())
    const forged = request.slice(0, 40) + (request[40] === 'a' ? 'b' : 'a') + request.slice(41)
    expectRefusal(await accept(forged), 'record_not_found')
    expectRefusal(await accept('apsr_x'), 'record_not_found')
  })

  test('shows the reason of a refusal, and does not go back by itself', async () => {
    const visit = browser()
    const { request } = await leave(visit)
    const reason = 'Your \u202eplan\u2066 has <no> apps.'
    const { body } = await ask(`/sign-in-requests/${request}/reject`, { reason })
    const shown = await visit(here(body.redirectTo))
    expect(shown.status).toBe(200)
    expect(shown.text).not.toMatch(/[\u202e\u2066]/)
    expect(shown.text).toContain(' has &lt;no> apps.')
  })
})

const signedIn = async () => {
  const visit = browser()
  const { request } = await leave(visit)
  await visit(here((await accept(request)).body.redirectTo))
  return visit
}
const leaveAgain = async (visit: Browser) => {
  expect((await visit('/account/prove?return_to=/account/apps')).text).toContain('/account/prove/handover?return_to=')
  const target = new URL((await visit('/account/prove/handover?return_to=/account/apps')).location ?? '')
  expect(target.searchParams.get('prompt')).toBe('login')
  return target.searchParams.get('request') ?? ''
}
const answered = async (request: string, reauthenticated: boolean, externalId = 'ada') =>
  here((await ask(`/sign-in-requests/${request}/accept`, { externalId, reauthenticated })).body.redirectTo)
const lastEvent = async () => {
  const { action, detail } = (await auditEvents(platform)).findLast((event) => event.action.includes('prove')) ?? {}
  return [action, detail]
}

describe('confirming at the builder that it is still the person', () => {
  test('leads back to the form if the builder has asked them, once', async () => {
    const visit = await signedIn()
    const path = await answered(await leaveAgain(visit), true)
    const back = await visit(path)
    expect([back.status, back.location]).toEqual([303, '/account/apps'])
    expect(await lastEvent()).toEqual(['session.proved', '{"with":"handover"}'])
    expect((await visit(path)).status).toBe(400)
  })

  test('needs the builder to have asked, the same person, the session that left and an answer to this request', async () => {
    const visit = await signedIn()
    const notAsked = await visit(await answered(await leaveAgain(visit), false))
    expect([notAsked.status, notAsked.text.includes('not asked to sign in again')]).toEqual([400, true])
    expect(await lastEvent()).toEqual(['session.prove', '{"with":"handover","reason":"not_asked"}'])
    await putBuilderUser(platform, trace, operator, { ...stated, externalId: 'eve', email: 'eve@builder.example' })
    const other = await visit(await answered(await leaveAgain(visit), true, 'eve'))
    expect([other.status, other.text.includes('Somebody else')]).toEqual([400, true])
    const request = await leaveAgain(visit)
    const rejected = await visit(here((await reject(request)).body.redirectTo))
    expect([rejected.status, rejected.text.includes('You were not signed in there')]).toEqual([400, true])
    const mine = await answered(await leaveAgain(visit), true)
    expect((await (await signedIn())(mine)).status).toBe(400)
    expect((await visit(mine.replace(/verifier=.{3}/, 'verifier=xxx'))).status).toBe(400)
    expect(await lastEvent()).toEqual(['session.prove', '{"with":"handover","reason":"not_completed"}'])
  })
})

/** A page that needs a proof no older than ten minutes. */
const { slug } = await addApp(platform, { ...world.user, email: stated.email })
const step = `/console/${slug}/credentials/new`

test('a sign-in counts as a proof for ten minutes only if the builder has asked the person for it', async () => {
  const visit = await signedIn()
  expect((await visit(step)).location).toStartWith('/account/prove?')
  expect((await visit(await answered(await leaveAgain(visit), true))).status).toBe(303)
  expect((await visit(step)).location).toBeNull()
  const other = browser()
  await other(await answered((await leave(other)).request, true))
  expect((await other(step)).location).toBeNull()
})

test('the ten minutes count from when the builder has asked, however late the browser comes back', async () => {
  for (const agoSeconds of [540, 601]) {
    const late = async (path: string) => {
      await askBeside(
        world.server.database,
        'UPDATE sign_in_requests SET decided_at = decided_at - ?',
        agoSeconds * 1000,
      )
      return path
    }
    const [proving, signing] = [await signedIn(), browser()]
    expect((await proving(await late(await answered(await leaveAgain(proving), true)))).status).toBe(303)
    await signing(await late(await answered((await leave(signing)).request, true)))
    for (const visit of [proving, signing]) {
      const { location } = await visit(step)
      expect({ agoSeconds, asks: location?.startsWith('/account/prove?') ?? false }).toEqual({
        agoSeconds,
        asks: agoSeconds > 600,
      })
    }
  }
})

const post = async (email: string) =>
  (await send(url, 'POST', '~/api/session', { body: JSON.stringify({ email, password }) })).status

describe('a sign-in that was answered', () => {
  test('is completed by one of 20 racing requests', async () => {
    const visit = browser()
    const { request } = await leave(visit)
    const path = here((await accept(request)).body.redirectTo)
    const answers = await Promise.all(Array.from({ length: 20 }, async () => await visit(path)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, ...Array.from({ length: 19 }, () => 400)])
  })

  test('is completed by the last answer alone: a refusal stops what was accepted, and the other way round', async () => {
    const [visit, other] = [browser(), browser()]
    const { request } = await leave(visit)
    const accepted = (await accept(request)).body.redirectTo
    const rejected = (await reject(request)).body.redirectTo
    expect((await visit(here(accepted))).status).toBe(400)
    expect((await visit(here(rejected))).text).toContain('No.')
    const second = await leave(other)
    const refused = (await reject(second.request)).body.redirectTo
    const taken = (await accept(second.request)).body.redirectTo
    expect((await other(here(refused))).status).toBe(400)
    expect((await other(here(taken))).status).toBe(303)
  })

  test('is not completed once the service key of the answer is revoked, which the audit log says', async () => {
    const stolen = await createServiceKey(platform, trace, operator, { ...input, rights: ['sign-in'] })
    const visit = browser()
    const { request } = await leave(visit)
    const body = JSON.stringify({ externalId: 'ada' })
    const answer = await send(url, 'POST', `~/api/management/sign-in-requests/${request}/accept`, {
      token: stolen.secret,
      body,
    })
    await revokeServiceKey(platform, trace, operator, stolen.id)
    expect((await visit(here(answer.body.redirectTo))).status).toBe(400)
    const refused = (await auditEvents(platform)).findLast(({ outcome }) => outcome === 'refused')
    expect(refused).toMatchObject({ action: 'session.create', detail: '{"way":"handover","reason":"answer_invalid"}' })
    expect((await visit('/account')).status).toBe(303)
  })

  test('is not completed after the access of the person has ended', async () => {
    for (const body of [{ only: 'sessions' }, {}]) {
      const visit = browser()
      const { request } = await leave(visit)
      const { redirectTo } = (await accept(request)).body
      expect((await ask('/users/ada/end-access', body)).status).toBe(200)
      expect((await visit(here(redirectTo))).status).toBe(400)
    }
  })

  test('leads to no other site, whatever page was asked for and whatever host the builder named', async () => {
    for (const target of ['https://evil.example/', '//evil.example', '/\\evil.example', 'javascript:alert(1)']) {
      const visit = browser()
      const away = await visit(`/sign-in/handover?return_to=${encodeURIComponent(target)}`)
      const request = new URL(away.location ?? '').searchParams.get('request') ?? ''
      const headers = { Host: 'evil.example', 'X-Forwarded-Host': 'evil.example', Origin: 'https://evil.example' }
      const { body } = await send(url, 'POST', `~/api/management/sign-in-requests/${request}/accept`, {
        token: secret,
        headers,
        body: JSON.stringify({ externalId: 'ada' }),
      })
      expect(body.redirectTo).toStartWith(`http://localhost:${new URL(url).port}/sign-in/complete?`)
      expect((await visit(here(body.redirectTo))).location).toBe('/')
    }
  })

  test('replaces the session that the browser had, which ends', async () => {
    const visit = browser()
    const complete = async () => {
      const away = await visit('/sign-in/handover')
      const { body } = await accept(new URL(away.location ?? '').searchParams.get('request') ?? '')
      return await visit(here(body.redirectTo))
    }
    await complete()
    const ended = (await auditEvents(platform)).filter(({ action }) => action === 'session.ended').length
    expect((await complete()).status).toBe(303)
    expect((await auditEvents(platform)).filter(({ action }) => action === 'session.ended')).toHaveLength(ended + 1)
  })
})

describe('a password beside it', () => {
  test('opens the account of an operator, and of nobody else', async () => {
    expect(await post('boss@example.com')).toBe(200)
    expect(await post(world.user.email)).toBe(401)
  })

  test('has its form on a page of its own', async () => {
    const { status, text } = await browser()('/sign-in?way=password')
    expect(status).toBe(200)
    expect(text).toContain('type="password"')
    expect(text).toContain('/sign-in/handover?return_to=')
  })

  test('is what the desk leads to, because no builder signs operators in', async () => {
    for (const [path, leads] of [
      ['/desk', null],
      ['/desk/users/new?q=1', null],
      ['/desks', 'https://builder.example/apps/sign-in'],
      ['/account?next=/desk', 'https://builder.example/apps/sign-in'],
    ] as const) {
      const { status, location } = await browser()(`/sign-in?${new URLSearchParams({ return_to: path }).toString()}`)
      expect([path, status, location?.split('?')[0] ?? null]).toEqual([path, leads === null ? 200 : 303, leads])
    }
  })
})

test('without handover among the ways to sign in, nobody is sent to the builder or comes back from there', async () => {
  const off = await worldOfFile({ env: { SIGN_IN: 'password', SIGN_IN_URL: 'https://builder.example/apps/sign-in' } })
  for (const path of ['/sign-in/handover', '/sign-in/complete?request=x&verifier=y']) {
    const { status, headers } = await fetchPatiently(off.server.url + path, { redirect: 'manual' })
    expect([status, headers.get('location')]).toEqual([303, '/sign-in'])
  }
})

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { PlatformError } from '../../src/domain/errors.ts'
import { type VersionStatus, type VersionStep, versionStatuses, versionSteps } from '../../src/domain/version.ts'
import { approveAndActivate, moveVersion } from '../../src/operations/versions/move-version.ts'
import { createOperatorWorld, type OperatorWorld } from '../pages/support/operator-world.ts'
import { type PlainBrowser, signedInBrowser } from '../pages/support/plain-browser.ts'
import { askBeside } from '../support/beside.ts'
import { call } from '../support/call.ts'
import { together } from '../support/crash.ts'
import { operator, trace } from '../support/operator.ts'
import { runProgram } from '../support/run-program.ts'
import { appWith, create, everything, rollBack, rowOf, take } from './support/lifecycle-app.ts'
import { freshApp, type RealApp } from './support/lifecycle-world.ts'

let world: OperatorWorld
let owner: PlainBrowser
let desk: PlainBrowser
beforeAll(async () => {
  world = await createOperatorWorld()
  owner = await signedInBrowser(world.server.url, world.user)
  desk = await signedInBrowser(world.server.url, world.operator)
})
afterAll(async () => await endWorld())

const endWorld = async () => {
  await world.platform.database.close()
  await world.server.stop()
}

const steps: readonly VersionStep[] = ['submit', 'withdraw', 'approve', 'reject', 'activate']
const rejection = { message: 'No.', items: [] }

/** The code of a refusal, or the status that came of it. */
const outcomeOf = async (work: Promise<{ readonly status: VersionStatus }>): Promise<string> => {
  try {
    return (await work).status
  } catch (error) {
    if (error instanceof PlatformError) return error.code
    throw error
  }
}
const stepOn = async ({ platform, slug }: RealApp, step: VersionStep, version = '1.0.0') =>
  await outcomeOf(moveVersion(platform, trace, operator, { slug, version, step, rejection }))

describe('every step from every status', () => {
  for (const status of versionStatuses) {
    for (const step of steps) {
      const { from, to } = versionSteps[step]
      if (from === status) {
        test(`${step} makes a ${status} version ${to}, and leaves one audit event`, async () => {
          const app = await appWith(world, status)
          const before = await everything(app)
          expect(await stepOn(app, step)).toBe(to)
          expect((await rowOf(app)).status).toBe(to)
          expect((await everything(app)).trail.length).toBe(before.trail.length + 1)
        })
      } else {
        test(`${step} is refused for a ${status} version and changes nothing, and the query alone refuses it too`, async () => {
          const app = await appWith(world, status)
          const before = await everything(app)
          expect(await stepOn(app, step)).toBe('version_not_eligible')
          const { id } = await rowOf(app)
          const moved = await app.platform.database.transaction(
            async (q) => await q.versions.move(id, [from], to, { submittedAt: 1, reviewedAt: 1, activatedAt: 1 }, 1),
          )
          expect(moved).toBe(false)
          expect(await everything(app)).toEqual(before)
        })
      }
    }

    test(`an upload ${status === 'draft' ? 'replaces' : 'leaves alone'} a ${status} version`, async () => {
      const app = await appWith(world, status)
      const before = await everything(app)
      const answer = await create(app, '1.0.0', 'Second')
      if (status === 'draft')
        return expect([answer.status, answer.body.revision, answer.body.notes]).toEqual([200, 2, 'Second'])
      expect([answer.status, answer.body.error]).toMatchObject([409, { code: 'version_locked', details: { status } }])
      const { id, revision, ...row } = await rowOf(app)
      const replaced = await app.platform.database.transaction(
        async (q) => await q.versions.replaceDraft(id, revision + 1, { ...row, notes: 'Second' }, 1),
      )
      expect(replaced).toBe(false)
      expect(await everything(app)).toEqual(before)
    })

    const isBefore = status === 'superseded'
    test(`a rollback in production ${isBefore ? 'brings back' : 'is refused'} a ${status} version`, async () => {
      const app = await appWith(world, status)
      if (status !== 'active' && !isBefore) {
        await create(app, '0.9.0')
        await take(app, '0.9.0', 'submit', 'approve', 'activate')
      }
      const before = await everything(app)
      const { status: code, body } = await rollBack(app, '1.0.0')
      if (isBefore) {
        expect([code, body.version.status, body.distributionChanged]).toEqual([200, 'active', true])
        return expect((await rowOf(app, '2.0.0')).status).toBe('superseded')
      }
      expect([code, body.error]).toMatchObject(
        status === 'active'
          ? [409, { code: 'version_already_current' }]
          : [409, { code: 'version_not_eligible', details: { status } }],
      )
      expect(await everything(app)).toEqual(before)
    })

    test(`approving and activating in one step does ${status === 'submitted' ? 'both' : 'neither'} for a ${status} version`, async () => {
      const app = await appWith(world, status)
      const before = await everything(app)
      const { platform, slug } = app
      const row = await rowOf(app)
      const live = await platform.database.queries.versions.active(app.id)
      const seen = { id: row.id, revision: row.revision, submittedAt: row.submittedAt, liveId: live?.id ?? null }
      const outcome = await outcomeOf(approveAndActivate(platform, trace, operator, { slug, version: '1.0.0', seen }))
      if (status === 'submitted') return expect(outcome).toBe('active')
      expect(outcome).toBe('version_not_eligible')
      expect(await everything(app)).toEqual(before)
    })
  }

  test('the database itself refuses two live versions of one app', async () => {
    const app = await appWith(world, 'superseded')
    const both = "UPDATE versions SET status = 'active' WHERE app_id = ?"
    await expect(askBeside(world.server.database, both, app.id)).rejects.toThrow(/unique constraint/i)
  })
})

/** Each form that moves a version: where it stands, whose it is, and from which status on it is no longer true. */
const formsOn = (app: RealApp) => {
  const inConsole = `/console/${app.slug}/versions/1.0.0`
  const onDesk = `/desk/reviews/${app.slug}/1.0.0`
  const plain = {}
  const reasons = { message: 'No.', path: [], reason: [], intent: 'reject' }
  return {
    submit: { page: inConsole, who: owner, fields: plain },
    withdraw: { page: inConsole, who: owner, fields: plain },
    approve: { page: onDesk, who: desk, fields: plain },
    publish: { page: onDesk, who: desk, fields: plain },
    reject: { page: onDesk, who: desk, fields: reasons },
    activate: { page: onDesk, who: desk, fields: plain },
  } as const
}
type FormName = keyof ReturnType<typeof formsOn>

const leadsTo = {
  submit: 'submitted',
  withdraw: 'draft',
  approve: 'approved',
  publish: 'active',
  reject: 'rejected',
  activate: 'active',
} as const satisfies Record<FormName, VersionStatus>

/** Loads the page now; the form is sent when the result is called. */
const loaded = async (app: RealApp, name: FormName) => {
  const { page, who, fields } = formsOn(app)[name]
  const action = `${page}/${name}`
  const hidden = await who.formOn(page, action)
  return async () => await who.post(action, { ...hidden, ...fields })
}

describe('a form that was loaded before another user took a step', () => {
  const cases: readonly (readonly [FormName, VersionStatus, readonly VersionStep[]])[] = [
    ['submit', 'draft', ['submit']],
    ['submit', 'draft', ['submit', 'approve']],
    ['submit', 'draft', ['submit', 'reject']],
    ['submit', 'draft', ['submit', 'approve', 'activate']],
    ['withdraw', 'submitted', ['withdraw']],
    ['withdraw', 'submitted', ['approve']],
    ['withdraw', 'submitted', ['reject']],
    ['withdraw', 'submitted', ['approve', 'activate']],
    ['approve', 'submitted', ['withdraw']],
    ['approve', 'submitted', ['reject']],
    ['approve', 'submitted', ['approve', 'activate']],
    ['publish', 'submitted', ['withdraw']],
    ['publish', 'submitted', ['approve']],
    ['publish', 'submitted', ['reject']],
    ['reject', 'submitted', ['withdraw']],
    ['reject', 'submitted', ['approve']],
    ['reject', 'submitted', ['approve', 'activate']],
    ['activate', 'approved', ['activate']],
  ]
  for (const [name, status, meanwhile] of cases) {
    test(`${name} is refused after ${meanwhile.join(', ')}, and changes nothing`, async () => {
      const app = await appWith(world, status)
      const send = await loaded(app, name)
      await take(app, '1.0.0', ...meanwhile)
      const before = await everything(app)
      const { status: answered } = await send()
      expect(answered).toBe(409)
      expect(await everything(app)).toEqual(before)
    })
  }
})

const allLoaded = async (app: RealApp, names: readonly FormName[]) =>
  await Promise.all(names.map(async (name) => ({ name, send: await loaded(app, name) })))

describe('of 50 steps at once that exclude each other', () => {
  test('on a submitted version, from pages, commands and operations, one succeeds and the others are refused', async () => {
    const app = await appWith(world, 'submitted')
    const before = await everything(app)
    const names: readonly FormName[] = ['approve', 'reject', 'withdraw', 'publish']
    const forms = await allLoaded(
      app,
      Array.from({ length: 24 }, (_, index) => names[index % 4] ?? 'approve'),
    )
    const file = `file:${world.server.database}`
    const answers = await Promise.all([
      ...forms.map(async ({ name, send }) => ((await send()).status === 303 ? name : null)),
      ...(['approve', 'reject', 'withdraw'] as const).map(async (step) => {
        const message = step === 'reject' ? ['--message', 'No.'] : []
        const { code } = await runProgram(['review', step, app.slug, '1.0.0', ...message, '--database', file])
        return code === 0 ? step : null
      }),
      ...Array.from({ length: 23 }, async (_, index) => {
        const step = (['approve', 'reject', 'withdraw'] as const)[index % 3] ?? 'approve'
        return (await stepOn(app, step)) === 'version_not_eligible' ? null : step
      }),
    ])
    const winners = answers.filter((name) => name !== null)
    expect(winners).toHaveLength(1)
    const [winner = 'submit'] = winners
    expect((await rowOf(app)).status).toBe(leadsTo[winner])
    const after = await everything(app)
    expect(after.trail.length - before.trail.length).toBe(winner === 'publish' ? 2 : 1)
  }, 60_000)

  test('submissions racing with uploads: one is submitted, with the content of the last upload that was answered', async () => {
    const app = await appWith(world, 'draft')
    const [submissions, uploads] = await Promise.all([
      together(25, async () => await stepOn(app, 'submit')),
      together(25, async (index) => await create(app, '1.0.0', `Late ${index}`)),
    ])
    expect(submissions.filter((outcome) => outcome === 'submitted')).toHaveLength(1)
    const replaced = uploads.filter(({ status }) => status === 200)
    const { revision, notes, status } = await rowOf(app)
    expect([status, revision]).toEqual(['submitted', replaced.length + 1])
    const last = replaced.find(({ body }) => body.revision === revision)
    expect(notes).toBe(last?.body.notes ?? 'First')
    expect(uploads.filter(({ status }) => status === 409)).toHaveLength(25 - replaced.length)
  })

  test('activations racing with rollbacks: one version is live, and every change is recorded once', async () => {
    const app = await freshApp(world)
    const names = ['1.0.0', '1.1.0', '1.2.0', '1.3.0']
    for (const name of names) {
      await create(app, name)
      await take(app, name, 'submit', 'approve')
    }
    await take(app, '1.0.0', 'activate')
    await take(app, '1.1.0', 'activate')
    const before = (await everything(app)).trail.length
    const [activations, rollbacks] = await Promise.all([
      together(24, async (index) => await stepOn(app, 'activate', index % 2 === 0 ? '1.2.0' : '1.3.0')),
      together(26, async (index) => await rollBack(app, names[index % 4] ?? '')),
    ])
    expect(activations.filter((outcome) => outcome === 'active')).toHaveLength(2)
    const { versions, ledger, trail } = await everything(app)
    const done = rollbacks.filter(({ status }) => status === 200)
    expect(trail.length - before).toBe(2 + done.length)
    expect(ledger.map(({ id }) => id).toSorted()).toEqual(done.map(({ body }) => body.rollback.id).toSorted())
    expect(versions.map(({ status }) => status).toSorted()).toEqual([
      'active',
      'superseded',
      'superseded',
      'superseded',
    ])

    // Whatever the order was, every change took what the one before it had left: from the first to the last in one line.
    const { body } = await call(app.url, 'GET', '/versions', { token: app.token })
    const balance = new Map<string, number>([[body.current.production, 1]])
    const add = (id: string, by: number) => balance.set(id, (balance.get(id) ?? 0) + by)
    add((await rowOf(app, '1.1.0')).id, -1)
    for (const { target, detail } of trail.slice(before)) {
      const { superseded, fromVersionId } = JSON.parse(detail ?? '{}')
      add(superseded ?? fromVersionId, 1)
      add(target ?? '', -1)
    }
    expect([...balance.values()].filter((sum) => sum !== 0)).toEqual([])
  })

  test('creates of one version: one creates it, the others replace it, and each adds a revision', async () => {
    const app = await freshApp(world)
    const answers = await together(50, async (index) => await create(app, '1.0.0', `Upload ${index}`))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.map(({ body }) => body.revision).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 50 }, (_, index) => index + 1),
    )
    const last = answers.find(({ body }) => body.revision === 50)
    expect(await rowOf(app)).toMatchObject({ revision: 50, notes: last?.body.notes, number: 1 })
  })
})

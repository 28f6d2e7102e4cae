import { type VersionStatus, type VersionStep, versionSteps } from '../../../src/domain/version.ts'

// The lifecycle of versions (contract section 3) in a few lines, using only names of the platform.

export type Environment = 'development' | 'production'
export type Command =
  | { readonly kind: 'create'; readonly version: string; readonly notes: string }
  | { readonly kind: 'step'; readonly step: VersionStep; readonly version: string }
  | {
      readonly kind: 'rollback'
      readonly environment: Environment
      /** By name or by ID; none is the one before. */
      readonly target: { readonly by: 'name' | 'id'; readonly version: string } | null
      readonly dryRun: boolean
    }

type ModelVersion = {
  readonly version: string
  readonly number: number
  readonly status: VersionStatus
  readonly revision: number
  readonly notes: string
  readonly submitted: boolean
  readonly reviewed: boolean
  readonly activated: boolean
}
export type LedgerRow = { readonly environment: Environment; readonly from: string; readonly to: string }
export type ModelApp = {
  /** Oldest first. */
  readonly versions: readonly ModelVersion[]
  /** The development head. */
  readonly head: string | null
  /** Oldest first. */
  readonly ledger: readonly LedgerRow[]
  /** What production can go back to one by one, the live version last. */
  readonly stack: readonly string[]
}
export const emptyApp: ModelApp = { versions: [], head: null, ledger: [], stack: [] }

/** The answer to the caller: `created`, `replaced`, the status after a step, the versions of a rollback, or an error code. */
export type Told = string
export type Turn = { readonly app: ModelApp; readonly told: Told }

export const liveOf = ({ versions }: ModelApp): ModelVersion | null =>
  versions.find(({ status }) => status === 'active') ?? null

export const turn = (app: ModelApp, command: Command): Turn => {
  switch (command.kind) {
    case 'create':
      return create(app, command)
    case 'step':
      return take(app, command)
    case 'rollback':
      return rollBack(app, command)
    default:
      return command satisfies never
  }
}

const create = (app: ModelApp, { version, notes }: Extract<Command, { kind: 'create' }>): Turn => {
  const existing = find(app, version)
  if (existing === null) {
    const number = app.versions.length + 1
    const flags = { submitted: false, reviewed: false, activated: false }
    const created = { version, number, status: 'draft', revision: 1, notes, ...flags } as const
    return { app: { ...app, versions: [...app.versions, created], head: version }, told: 'created' }
  }
  if (existing.status !== 'draft') return { app, told: 'version_locked' }
  return { app: change(app, version, { notes, revision: existing.revision + 1 }), told: 'replaced' }
}

const take = (app: ModelApp, { step, version }: Extract<Command, { kind: 'step' }>): Turn => {
  const existing = find(app, version)
  if (existing === null) return { app, told: 'version_not_found' }
  const { from, to } = versionSteps[step]
  if (existing.status !== from) return { app, told: 'version_not_eligible' }
  const live = liveOf(app)
  const freed = step === 'activate' && live !== null ? change(app, live.version, { status: 'superseded' }) : app
  const stack = step === 'activate' ? [...app.stack, version] : app.stack
  return { app: { ...change(freed, version, { status: to, ...flagsOf[step] }), stack }, told: to }
}

const flagsOf = {
  submit: { submitted: true },
  withdraw: { submitted: false },
  approve: { reviewed: true },
  reject: { reviewed: true },
  activate: { activated: true },
} as const satisfies Record<VersionStep, Partial<ModelVersion>>

const rollBack = (app: ModelApp, { environment, target, dryRun }: Extract<Command, { kind: 'rollback' }>): Turn => {
  const from = environment === 'production' ? liveOf(app) : find(app, app.head ?? '')
  const to = target === null ? previous(app, environment, from) : find(app, target.version)
  if (to === null) return { app, told: target === null ? 'no_previous_version' : 'version_not_found' }
  if (to.version === from?.version) return { app, told: 'version_already_current' }
  if (environment === 'production' && to.status !== 'superseded') return { app, told: 'version_not_eligible' }
  if (from === null) return { app, told: 'no_previous_version' }
  const told = `${from.version} to ${to.version}`
  if (dryRun) return { app, told }
  const moved = environment === 'development' ? { ...app, head: to.version } : liveAgain(app, from.version, to.version)
  const row = { environment, from: from.version, to: to.version }
  return { app: { ...moved, ledger: [...app.ledger, row] }, told }
}

/** Pops down to the version, or pushes one that was popped before. */
const liveAgain = (app: ModelApp, from: string, to: string): ModelApp => {
  const stack = app.stack.includes(to) ? app.stack.slice(0, app.stack.indexOf(to) + 1) : [...app.stack, to]
  return { ...change(change(app, from, { status: 'superseded' }), to, { status: 'active', activated: true }), stack }
}

/** The next lower number; in production what lies below the live version. */
const previous = (app: ModelApp, environment: Environment, from: ModelVersion | null): ModelVersion | null => {
  if (environment === 'production') return find(app, app.stack.at(-2) ?? '')
  return app.versions.findLast(({ number }) => from !== null && number < from.number) ?? null
}

const find = (app: ModelApp, version: string): ModelVersion | null =>
  app.versions.find((each) => each.version === version) ?? null

const change = (app: ModelApp, version: string, to: Partial<ModelVersion>): ModelApp => ({
  ...app,
  versions: app.versions.map((each) => (each.version === version ? { ...each, ...to } : each)),
})

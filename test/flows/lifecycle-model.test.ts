import { expect, test } from 'bun:test'
import {
  type Arbitrary,
  array,
  assert,
  asyncProperty,
  boolean,
  constant,
  constantFrom,
  nat,
  oneof,
  option,
  record,
  tuple,
} from 'fast-check'
import { patience, rounds, seed } from '../support/proof.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { addUser } from '../support/world.ts'
import { type Command, emptyApp, liveOf, type ModelApp, turn } from './support/lifecycle-model.ts'
import { freshApp, observe, perform, type RealApp } from './support/lifecycle-world.ts'

// Random lives of versions, on the real server and in a model, which must agree after every step.

const quickRuns = 25
const runs = rounds(quickRuns)
/** So many lives meet every way that a command can end. */
const thorough = 300

const world = await worldOfFile()

const version = constantFrom('1.0.0', '1.1.0', '2.0.0-rc.1', '2.0.0')
const notes = nat(9).map((digit) => `Notes ${digit}`)
const step = constantFrom(
  'submit',
  'submit',
  'withdraw',
  'withdraw',
  'approve',
  'approve',
  'reject',
  'activate',
  'activate',
)
const target = option(record({ by: constantFrom('name', 'id'), version }), { freq: 2 })

const command: Arbitrary<Command> = oneof(
  { weight: 3, arbitrary: record({ kind: constant('create'), version, notes }) },
  { weight: 6, arbitrary: record({ kind: constant('step'), step, version }) },
  {
    weight: 4,
    arbitrary: record({
      kind: constant('rollback'),
      environment: constantFrom('development', 'production'),
      target,
      dryRun: boolean(),
    }),
  },
)
/** All the way to being live, so that not every life ends as a draft. */
const publication = tuple(version, notes).map(([version, notes]): Command[] => [
  { kind: 'create', version, notes },
  { kind: 'step', step: 'submit', version },
  { kind: 'step', step: 'approve', version },
  { kind: 'step', step: 'activate', version },
])
/** Half-way and back. */
const reconsideration = tuple(version, notes).map(([version, notes]): Command[] => [
  { kind: 'create', version, notes },
  { kind: 'step', step: 'submit', version },
  { kind: 'step', step: 'withdraw', version },
])
/** Which of two apps, and what happens to it. */
const moves = array(
  tuple(
    constantFrom(0, 1),
    oneof(
      { weight: 10, arbitrary: command.map((one) => [one]) },
      { weight: 2, arbitrary: publication },
      { weight: 1, arbitrary: reconsideration },
    ),
  ),
  { maxLength: 30, size: 'max' },
)

const tally = new Map<string, number>()
const count = (command: Command, told: string): void => {
  const what =
    command.kind === 'step'
      ? command.step
      : command.kind === 'rollback'
        ? `${command.kind} ${command.environment}`
        : command.kind
  const how = told.includes(' to ') ? (command.kind === 'rollback' && command.dryRun ? 'tried' : 'done') : told
  const kind = `${what}: ${how}`
  tally.set(kind, (tally.get(kind) ?? 0) + 1)
}

/** Both apps are looked at after every step: what happens to one must not show in the other. */
const expectAgreement = async (reals: readonly RealApp[], models: readonly ModelApp[]) =>
  await Promise.all(
    reals.map(async (real, index) => {
      const { seen, ids } = await observe(real)
      const model = models[index] ?? emptyApp
      expect(seen).toEqual({ ...model, live: liveOf(model)?.version ?? null })
      expect(model.stack.at(-1) ?? null).toBe(seen.live)
      return ids
    }),
  )

test(
  `the platform and the model agree at every step of ${runs} random lifecycles (seed ${seed})`,
  async () => {
    let owner = world.user
    let lives = 0
    await assert(
      asyncProperty(moves, async (moves) => {
        lives += 1
        if (lives % 40 === 0) owner = await addUser(world.platform) // an account may have only so many apps
        const reals = [await freshApp(world, owner), await freshApp(world, owner)]
        const models = [emptyApp, emptyApp]
        let ids = await expectAgreement(reals, models)
        for (const [index, commands] of moves) {
          for (const command of commands) {
            const real = reals[index]
            if (real === undefined) throw new RangeError('there are two apps')
            const expected = turn(models[index] ?? emptyApp, command)
            expect({ command, told: await perform(real, command, ids[index] ?? new Map()) }).toEqual({
              command,
              told: expected.told,
            })
            models[index] = expected.app
            ids = await expectAgreement(reals, models)
            count(command, expected.told)
          }
        }
      }),
      { numRuns: runs, seed, endOnFailure: false },
    )
    const missed = everyTurn.filter((kind) => !tally.has(kind))
    if (runs >= thorough) expect(missed).toEqual([])
    const met = [...tally].toSorted().map(([kind, times]) => `${kind} ${times}`)
    if (runs > quickRuns) process.stdout.write(`lifecycle seed ${seed}: ${met.join(', ')}\n`)
  },
  patience,
)

/** Every way a command can end; a long run that has not met them all has not tried enough. */
const everyTurn = [
  ...['created', 'replaced', 'version_locked'].map((told) => `create: ${told}`),
  ...['submitted', 'version_not_eligible', 'version_not_found'].map((told) => `submit: ${told}`),
  ...['draft', 'version_not_eligible', 'version_not_found'].map((told) => `withdraw: ${told}`),
  ...['approved', 'version_not_eligible', 'version_not_found'].map((told) => `approve: ${told}`),
  ...['rejected', 'version_not_eligible', 'version_not_found'].map((told) => `reject: ${told}`),
  ...['active', 'version_not_eligible', 'version_not_found'].map((told) => `activate: ${told}`),
  ...['done', 'tried', 'version_not_found', 'version_already_current', 'no_previous_version'].map(
    (told) => `rollback development: ${told}`,
  ),
  ...[
    'done',
    'tried',
    'version_not_found',
    'version_already_current',
    'version_not_eligible',
    'no_previous_version',
  ].map((told) => `rollback production: ${told}`),
]

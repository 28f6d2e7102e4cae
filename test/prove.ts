import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { removeTemporaryFolders, temporaryFolder } from './support/temporary-folder.ts'

/** A proof at length: the same test file that has its quick form inside `bun run test`, or a program of its own beside one. */
type Proof = {
  /** One sentence, as it stands in the usage. */
  readonly shows: string
  readonly file: string
  /** How often, unless `--rounds` says otherwise, and of what. */
  readonly rounds: number
  readonly unit: string
}

const proofs: Readonly<Record<string, Proof>> = {
  backups: {
    shows:
      'a backup under load has all that was acknowledged before it, a killed one is none, a restore revives nothing',
    file: 'test/faults/backups.test.ts',
    rounds: 100,
    unit: 'restores',
  },
  fuzz: {
    shows: 'requests made from the OpenAPI document and mutilated get answers of the contract, in flat memory',
    file: 'test/fuzz/fuzz.test.ts',
    rounds: 200_000,
    unit: 'requests',
  },
  guards: {
    shows: 'whichever security check is taken out, some test fails',
    file: 'test/faults/guards/main.ts',
    rounds: 10_000,
    unit: 'broken guards, or all there are',
  },
  clocks: {
    shows: 'what has ended stays so however the clock is set, and a frozen process lets nothing through',
    file: 'test/faults/clock.test.ts',
    rounds: 100,
    unit: 'jumps of the clock',
  },
  'disk-calls': {
    shows: 'killed or failed by the disk at any single write or sync, the server stays honest and loses nothing',
    file: 'test/faults/disk-calls/disk-calls.test.ts',
    rounds: 10_000,
    unit: 'faults, or as many as there are',
  },
  flips: {
    shows: 'a wrong byte in the WAL or the database is refused, or changes nothing that was acknowledged',
    file: 'test/faults/flipped-bytes.test.ts',
    rounds: 1_000,
    unit: 'flipped bytes',
  },
  kills: {
    shows: 'kill -9 at random moments under load loses nothing that was acknowledged',
    file: 'test/faults/kills/kills.test.ts',
    rounds: 1_000,
    unit: 'kills',
  },
  lifecycle: {
    shows: 'random lives of versions agree with a model after every step',
    file: 'test/flows/lifecycle-model.test.ts',
    rounds: 2_500,
    unit: 'lives',
  },
  overload: {
    shows: 'five times what the server can do leaves four fifths of what it does, and it can be watched throughout',
    file: 'test/faults/overload/overload.test.ts',
    rounds: 5,
    unit: 'rounds of peak and overload',
  },
  restarts: {
    shows: 'behind Caddy with the printed configuration a restart loses no request',
    file: 'test/cli/proxy-restart.test.ts',
    rounds: 10_000,
    unit: 'requests',
  },
  secrets: {
    shows: 'of many secrets of every kind none is kept anywhere, nor is any in a core dump',
    file: 'test/faults/many-secrets.test.ts',
    rounds: 100_000,
    unit: 'secrets',
  },
  'sign-ins': {
    shows: 'people sign in while 200 networks guess passwords',
    file: 'test/faults/overload/sign-ins.test.ts',
    rounds: 6,
    unit: 'rounds of 10 people in known browsers and 10 in others',
  },
  soak: {
    shows: 'after a long time of mixed load, backups, rotations and purges, memory, handles and WAL are what they were',
    file: 'test/faults/soak.test.ts',
    rounds: 240,
    unit: 'minutes',
  },
  timing: {
    shows: 'how long refusals take for known and unknown clients, tokens, sessions and users: a report',
    file: 'test/faults/timing.test.ts',
    rounds: 5_000,
    unit: 'pairs of calls',
  },
  'power-cuts': {
    shows: 'a power cut at any moment loses and damages nothing, and would without our own sync',
    file: 'test/faults/power-loss/power-loss.test.ts',
    rounds: 10_000,
    unit: 'states of the disk',
  },
  purge: {
    shows: 'expired rows are purged beside a running server',
    file: 'test/faults/purge.test.ts',
    rounds: 1_000_000,
    unit: 'rows',
  },
  races: {
    shows: 'of 200 who do the same at once one wins, and what was told to each is so, also after a crash',
    file: './test/faults/races/',
    rounds: 1_000,
    unit: 'rounds of every race',
  },
  'raw-http': {
    shows: 'malformed, smuggled, slow and broken-off HTTP does nothing, and idle connections disturb nobody',
    file: 'test/fuzz/raw-http.test.ts',
    rounds: 10_000,
    unit: 'idle connections',
  },
  'redirect-mutants': {
    shows: 'no mutant of a registered redirect URI is accepted anywhere',
    file: 'test/fuzz/redirect-mutants.test.ts',
    rounds: 5_000,
    unit: 'mutants',
  },
  waits: {
    shows: 'a lock that another process holds, a slow disk and a read-only one stop no reads',
    file: 'test/faults/waiting.test.ts',
    rounds: 10,
    unit: 'seconds of a lock',
  },
  upgrades: {
    shows: 'an upgrade that is killed before any of its statements leaves the old schema or the new one of each step',
    file: 'test/db/upgrade.test.ts',
    rounds: 10_000,
    unit: 'kills, or one before each statement',
  },
  'webhook-kills': {
    shows: 'kill -9 during delivery loses no event',
    file: 'test/faults/webhook-kills.test.ts',
    rounds: 100,
    unit: 'kills',
  },
}

const usage = `bun run prove NAME … | all [--rounds N] [--seed N]

${Object.entries(proofs)
  .map(([name, { shows, rounds, unit }]) => `  ${name.padEnd(18)}${shows} (${rounds.toLocaleString('en')} ${unit})`)
  .join('\n')}

  --rounds    instead of the number in brackets
  --seed      repeats a run (default: a new one, which is printed)
  --out       a folder for the results as JSON, of a proof that has any`

const whole = (text: string | undefined, flag: string, least: number): number | null => {
  if (text === undefined) return null
  const value = Number(text)
  if (Number.isSafeInteger(value) && value >= least) return value
  throw new Error(`--${flag} takes a whole number from ${least} on.`)
}

type Asked = { readonly rounds: number | null; readonly seed: number; readonly out: string | undefined }

const prove = async (name: string, { file, rounds: usual, unit }: Proof, { rounds, seed, out }: Asked) => {
  const count = rounds ?? usual
  console.log(
    `${name}: ${count.toLocaleString('en')} ${unit}, to repeat with: bun run prove ${name} --rounds ${count} --seed ${seed}`,
  )
  const began = performance.now()
  const doubt = join(temporaryFolder(), 'doubt')
  const how = file.endsWith('/main.ts') ? [] : ['test', '--path-ignore-patterns', ''] // a file or folder of tests, or a program
  const child = Bun.spawn([process.execPath, ...how, file], {
    env: {
      ...process.env,
      TEST_SUITE: 'all',
      TEST_TIMEOUT_MS: '86400000',
      PROOF_ROUNDS: String(count),
      PROOF_SEED: String(seed),
      PROOF_OUT: out,
      PROOF_DOUBT: doubt,
    },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const code = await child.exited
  const seconds = Math.round((performance.now() - began) / 1_000)
  const verdict = code !== 0 ? 'BROKEN' : existsSync(doubt) ? 'cannot tell' : 'holds'
  console.log(`${name}: ${verdict} after ${seconds} s, seed ${seed}`)
  return verdict === 'holds'
}

try {
  const { values, positionals } = parseArgs({
    args: Bun.argv.slice(2),
    options: { rounds: { type: 'string' }, seed: { type: 'string' }, out: { type: 'string' } },
    allowPositionals: true,
  })
  const names = positionals.includes('all') ? Object.keys(proofs) : positionals
  if (names.length === 0) throw new Error('Which proof?')
  const rounds = whole(values.rounds, 'rounds', 1)
  const seed = whole(values.seed, 'seed', 0) ?? crypto.getRandomValues(new Uint32Array(1))[0] ?? 1
  const chosen = names.map((name) => {
    const proof = proofs[name]
    if (proof === undefined) throw new Error(`There is no proof called ${name}.`)
    return { name, proof }
  })
  let unproven = 0
  for (const { name, proof } of chosen)
    if (!(await prove(name, proof, { rounds, seed, out: values.out }))) unproven += 1
  removeTemporaryFolders()
  process.exitCode = unproven === 0 ? 0 : 1
} catch (error) {
  console.error(`${error instanceof Error ? error.message : error}\n\n${usage}`)
  process.exitCode = 2
}

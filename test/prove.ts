import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { removeTemporaryFolders, temporaryFolder } from './support/temporary-folder.ts'

/** The long form of a proof: a test file that runs in its quick form in `bun run test`, or a program. */
type Proof = {
  /** One sentence for the usage. */
  readonly shows: string
  readonly file: string
  /** The default of `--rounds`, and what is counted. */
  readonly rounds: number
  readonly unit: string
}

const proofs: Readonly<Record<string, Proof>> = {
  backups: {
    shows:
      'a backup under load has everything acknowledged before it, a killed one leaves none, a restore revives nothing',
    file: 'test/faults/backups.test.ts',
    rounds: 100,
    unit: 'restores',
  },
  failovers: {
    shows:
      'a killed or frozen primary loses nothing acknowledged, revives nothing revoked, and changes nothing when back',
    file: 'test/faults/nodes/failovers.test.ts',
    rounds: 50,
    unit: 'failovers',
  },
  fuzz: {
    shows: 'mutated requests of the OpenAPI document get answers of the contract, without growing memory',
    file: 'test/fuzz/fuzz.test.ts',
    rounds: 200_000,
    unit: 'requests',
  },
  guards: {
    shows: 'if any security check is removed, a test fails',
    file: 'test/tools/guards/main.ts',
    rounds: 10_000,
    unit: 'broken checks, at most all',
  },
  clocks: {
    shows: 'what has ended stays ended however the clock is set, and after a process was frozen',
    file: 'test/faults/clock.test.ts',
    rounds: 100,
    unit: 'jumps of the clock',
  },
  'disk-calls': {
    shows: 'a kill or a disk error at any write or sync loses nothing acknowledged and causes no false answer',
    file: 'test/faults/disk-calls/disk-calls.test.ts',
    rounds: 10_000,
    unit: 'faults, at most all',
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
    shows: 'random lifecycles of versions agree with a model after every step',
    file: 'test/flows/lifecycle-model.test.ts',
    rounds: 2_500,
    unit: 'lifecycles',
  },
  'node-kills': {
    shows:
      'kill -9 of one of three servers on one PostgreSQL loses nothing acknowledged, and others take its work over',
    file: 'test/faults/nodes/kills.test.ts',
    rounds: 200,
    unit: 'kills',
  },
  'node-races': {
    shows: 'of equal requests to two and three servers at once one succeeds, on all of them, and limits hold',
    file: 'test/faults/nodes/races.test.ts',
    rounds: 200,
    unit: 'rounds of every race',
  },
  overload: {
    shows: 'with five times its load the server does at least four fifths of its best, and can be monitored',
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
    shows: 'none of many secrets of every kind is stored anywhere or in a core dump',
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
  partitions: {
    shows: 'a server that cannot reach PostgreSQL refuses reads, shows nothing revoked elsewhere as live, and recovers',
    file: 'test/faults/nodes/partitions.test.ts',
    rounds: 20,
    unit: 'partitions',
  },
  soak: {
    shows:
      'after a long time of mixed load, backups, rotations and purges, memory, file handles and WAL have not grown',
    file: 'test/faults/soak.test.ts',
    rounds: 240,
    unit: 'minutes',
  },
  timing: {
    shows: 'a report of the time of refusals for known and unknown clients, tokens, sessions and users',
    file: 'test/faults/timing.test.ts',
    rounds: 5_000,
    unit: 'pairs of calls',
  },
  'power-cuts': {
    shows: 'a power cut at any moment loses and damages nothing acknowledged, and would without the sync of the WAL',
    file: 'test/faults/power-loss/power-loss.test.ts',
    rounds: 10_000,
    unit: 'states of the disk',
  },
  purge: {
    shows: 'expired rows are purged while a server runs',
    file: 'test/faults/purge.test.ts',
    rounds: 1_000_000,
    unit: 'rows',
  },
  races: {
    shows: 'of 200 equal requests at once one succeeds, and every answer stays true, also after a crash',
    file: './test/faults/races/',
    rounds: 1_000,
    unit: 'rounds of every race',
  },
  'raw-http': {
    shows: 'malformed, smuggled, slow and aborted HTTP has no effect, and idle connections disturb no other',
    file: 'test/fuzz/raw-http.test.ts',
    rounds: 10_000,
    unit: 'idle connections',
  },
  'redirect-mutants': {
    shows: 'no mutation of a registered redirect URI is accepted',
    file: 'test/fuzz/redirect-mutants.test.ts',
    rounds: 5_000,
    unit: 'mutations',
  },
  waits: {
    shows: 'a lock that another process holds, a slow disk and a read-only one stop no reads',
    file: 'test/faults/waiting.test.ts',
    rounds: 10,
    unit: 'seconds of a lock',
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

  --rounds    replaces the number in brackets
  --seed      repeats a run (default: a new seed, which is printed)
  --out       a folder for results as JSON, for proofs that write some`

const whole = (text: string | undefined, flag: string, least: number): number | null => {
  if (text === undefined) return null
  const value = Number(text)
  if (Number.isSafeInteger(value) && value >= least) return value
  throw new Error(`--${flag} takes a whole number, at least ${least}.`)
}

type ProofOptions = { readonly rounds: number | null; readonly seed: number; readonly out: string | undefined }

const prove = async (
  name: string,
  { file, rounds: defaultRounds, unit }: Proof,
  { rounds, seed, out }: ProofOptions,
) => {
  const count = rounds ?? defaultRounds
  console.log(
    `${name}: ${count.toLocaleString('en')} ${unit}, to repeat with: bun run prove ${name} --rounds ${count} --seed ${seed}`,
  )
  const began = performance.now()
  const noVerdict = join(temporaryFolder(), 'no-verdict')
  const command = file.endsWith('/main.ts') ? [] : ['test', '--path-ignore-patterns', ''] // programs are called main.ts, everything else is tests
  const child = Bun.spawn([process.execPath, ...command, file], {
    env: {
      ...process.env,
      TEST_SUITE: 'all',
      TEST_TIMEOUT_MS: '86400000',
      PROOF_ROUNDS: String(count),
      PROOF_SEED: String(seed),
      PROOF_OUT: out,
      PROOF_NO_VERDICT: noVerdict,
    },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const code = await child.exited
  const seconds = Math.round((performance.now() - began) / 1_000)
  const verdict = code !== 0 ? 'BROKEN' : existsSync(noVerdict) ? 'no verdict' : 'holds'
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
  if (names.length === 0) throw new Error('Name a proof.')
  const rounds = whole(values.rounds, 'rounds', 1)
  const seed = whole(values.seed, 'seed', 0) ?? crypto.getRandomValues(new Uint32Array(1))[0] ?? 1
  const chosen = names.map((name) => {
    const proof = proofs[name]
    if (proof === undefined) throw new Error(`There is no proof called ${name}.`)
    return { name, proof }
  })
  let failures = 0
  for (const { name, proof } of chosen)
    if (!(await prove(name, proof, { rounds, seed, out: values.out }))) failures += 1
  removeTemporaryFolders()
  process.exitCode = failures === 0 ? 0 : 1
} catch (error) {
  console.error(`${error instanceof Error ? error.message : error}\n\n${usage}`)
  process.exitCode = 2
}

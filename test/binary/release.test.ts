import { expect, setDefaultTimeout } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildFor, faultIn, machineOf, machines } from '../../src/release/machines.ts'
import { needs, programAt } from '../support/needs.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

setDefaultTimeout(600_000)

const parts = 'network for the packages of src/release/parts'
const { test } = needs(parts)

const moduleFor = (name: string): Buffer => {
  const folder = join(programAt(parts), 'node_modules/@node-rs', `bcrypt-${name}`)
  return readFileSync(join(folder, readdirSync(folder).find((file) => file.endsWith('.node')) ?? ''))
}

const runtimeFor = ({ runtime }: (typeof machines)[number]): Buffer =>
  readFileSync(join(programAt(parts), 'node_modules', runtime, 'bin/bun'))
const machineNamed = (name: string) => {
  const machine = machines.find((each) => each.name === name)
  if (machine === undefined) throw new Error(`no machine ${name}`)
  return machine
}

test('the runtime of each machine has its header', () => {
  for (const machine of machines) expect(machineOf(runtimeFor(machine))).toBe(machine.header)
})

// The release checks the file of each machine in the same way when it builds it.
test('the file for a machine has its header and its native module, and the one for Linux hashes passwords there', async () => {
  const folder = temporaryFolder()
  const wanted = machineNamed('linux-x64')
  await buildFor(wanted, programAt(parts), join(folder, wanted.name))
  const [glibc, musl] = [moduleFor('linux-x64-gnu'), moduleFor('linux-x64-musl')]
  const program = readFileSync(join(folder, wanted.name))
  expect(faultIn(program, wanted, glibc, [musl])).toBeNull()
  expect(faultIn(program, wanted, musl, [glibc])).toBe('the native module does not use libc.so.6')
  expect(faultIn(program, { ...wanted, libc: 'libc.so\0' }, musl, [])).toBe('it does not contain the native module')
  expect(faultIn(program, wanted, glibc, [glibc])).toBe('it contains the native module of another machine')
  expect(faultIn(program, wanted, moduleFor('linux-arm64-gnu'), [])).toBe('the native module is for linux arm64')
  const forMac = runtimeFor(machineNamed('darwin-arm64'))
  expect(faultIn(forMac, wanted, glibc, [])).toStartWith('it is for darwin arm64')

  if (process.platform !== 'linux' || process.arch !== 'x64') return
  const run = (...words: readonly string[]) =>
    Bun.spawnSync([join(folder, wanted.name), ...words], { cwd: folder, env: {} })
  const seeded = run('seed', '--json')
  expect({ exitCode: seeded.exitCode, stderr: seeded.stderr.toString() }).toEqual({ exitCode: 0, stderr: '' })
})

test('a machine whose packages are not there is refused by its name and theirs', async () => {
  const [machine] = machines
  if (machine === undefined) throw new Error('no machine')
  const file = join(temporaryFolder(), 'program')
  await expect(buildFor(machine, temporaryFolder(), file)).rejects.toThrow(
    'linux-x64 needs the package @node-rs/bcrypt-linux-x64-gnu',
  )
})

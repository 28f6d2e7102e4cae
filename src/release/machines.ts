import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildProgram } from '../build.ts'

/** A release cannot be made. The message is a sentence that says what to do. */
export class ReleaseRefused extends Error {}

type ReleaseMachine = {
  readonly name: string
  readonly target: Bun.Build.CompileTarget
  readonly runtime: string
  readonly bcrypt: string
  /** What `machineOf` says about the file. */
  readonly header: string
  /** The C library that the native module names; every Mac has the same. */
  readonly libc: string
}

/** The machines that a release has files for, and the packages of `parts/package.json` that are in their files. */
export const machines: readonly ReleaseMachine[] = [
  {
    name: 'linux-x64',
    target: 'bun-linux-x64',
    runtime: '@oven/bun-linux-x64',
    bcrypt: '@node-rs/bcrypt-linux-x64-gnu',
    header: 'linux x64 /lib64/ld-linux-x86-64.so.2',
    libc: 'libc.so.6',
  },
  {
    name: 'linux-arm64',
    target: 'bun-linux-arm64',
    runtime: '@oven/bun-linux-aarch64',
    bcrypt: '@node-rs/bcrypt-linux-arm64-gnu',
    header: 'linux arm64 /lib/ld-linux-aarch64.so.1',
    libc: 'libc.so.6',
  },
  {
    name: 'linux-x64-musl',
    target: 'bun-linux-x64-musl',
    runtime: '@oven/bun-linux-x64-musl',
    bcrypt: '@node-rs/bcrypt-linux-x64-musl',
    header: 'linux x64 /lib/ld-musl-x86_64.so.1',
    libc: 'libc.so\0',
  },
  {
    name: 'darwin-arm64',
    target: 'bun-darwin-arm64',
    runtime: '@oven/bun-darwin-aarch64',
    bcrypt: '@node-rs/bcrypt-darwin-arm64',
    header: 'darwin arm64',
    libc: '/usr/lib/libSystem.B.dylib',
  },
]

/**
 * Installs the packages of `parts` for all machines in the folder. The package manager compares them with the lockfile's
 * hashes, and takes them from where it is configured to.
 * @throws ReleaseRefused
 */
export const installParts = async (folder: string): Promise<void> => {
  mkdirSync(folder, { recursive: true })
  for (const name of ['package.json', 'bun.lock'])
    copyFileSync(join(import.meta.dir, 'parts', name), join(folder, name))
  const words = ['install', '--frozen-lockfile', '--ignore-scripts', '--linker=hoisted', '--os=*', '--cpu=*']
  const child = Bun.spawn([process.execPath, ...words], { cwd: folder, stdout: 'ignore', stderr: 'pipe' })
  const said = await new Response(child.stderr).text()
  if ((await child.exited) === 0) return
  const fault = /^error: .*$/m.exec(said)?.[0] ?? `bun install exited ${child.exitCode}`
  throw new ReleaseRefused(`The packages of src/release/parts could not be installed. Check the registry. ${fault}`)
}

/** The native module in a package. @throws ReleaseRefused that names the package */
const moduleIn = (parts: string, { name, bcrypt }: ReleaseMachine): string => {
  const folder = join(parts, 'node_modules', bcrypt)
  const file = existsSync(folder) ? readdirSync(folder).find((each) => each.endsWith('.node')) : undefined
  if (file === undefined) throw new ReleaseRefused(`${name} needs the package ${bcrypt}: install it in ${parts}.`)
  return join(folder, file)
}

/** Builds the program for a machine and checks the file. @throws ReleaseRefused */
export const buildFor = async (machine: ReleaseMachine, parts: string, file: string) => {
  const bcrypt = moduleIn(parts, machine)
  const runtime = join(parts, 'node_modules', machine.runtime, 'bin/bun')
  if (!existsSync(runtime)) {
    throw new ReleaseRefused(`${machine.name} needs the package ${machine.runtime}: install it in ${parts}.`)
  }
  const built = await buildProgram(file, { target: machine.target, runtime, bcrypt })
  const others = machines.filter((other) => other !== machine).map((other) => readFileSync(moduleIn(parts, other)))
  const fault = faultIn(readFileSync(file), machine, readFileSync(bcrypt), others)
  if (fault !== null) throw new ReleaseRefused(`The file for ${machine.name} is wrong: ${fault}.`)
  return built
}

/** Why a file is not for a machine; null if it is. It must contain the native module of that machine and of no other. */
export const faultIn = (
  program: Buffer,
  { header, libc }: Pick<ReleaseMachine, 'header' | 'libc'>,
  module: Buffer,
  otherModules: readonly Buffer[],
): string | null => {
  const found = machineOf(program)
  if (found !== header) return `it is for ${found ?? 'an unknown machine'}, not for ${header}`
  const kind = header.split(' ').slice(0, 2).join(' ')
  if (machineOf(module) !== kind) return `the native module is for ${machineOf(module) ?? 'an unknown machine'}`
  if (!module.includes(libc)) return `the native module does not use ${libc}`
  if (!program.includes(module)) return 'it does not contain the native module'
  return otherModules.some((other) => program.includes(other))
    ? 'it contains the native module of another machine'
    : null
}

/** What the header of an executable file or of a library says about the machine it is for. */

const elfMachines: Readonly<Record<number, string>> = { 62: 'x64', 183: 'arm64' }

const programInterpreter = 3
const arm64OfMachO = 0x0100_000c

/**
 * `linux x64 /lib64/ld-linux-x86-64.so.2`, with the loader if the file names one, or `darwin arm64`; null for anything else.
 * Only little-endian files of 64 bits are known (elf(5); mach-o/loader.h).
 */
export const machineOf = (bytes: Uint8Array): string | null => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (bytes.length < 64) return null
  if (view.getUint32(0, true) === 0xfeed_facf) return view.getUint32(4, true) === arm64OfMachO ? 'darwin arm64' : null
  if (view.getUint32(0) !== 0x7f45_4c46 || bytes[4] !== 2 || bytes[5] !== 1) return null
  const machine = elfMachines[view.getUint16(18, true)]
  if (machine === undefined) return null
  const table = Number(view.getBigUint64(32, true))
  const size = view.getUint16(54, true)
  for (let index = 0; index < view.getUint16(56, true); index += 1) {
    const at = table + index * size
    if (view.getUint32(at, true) !== programInterpreter) continue
    const from = Number(view.getBigUint64(at + 8, true))
    const length = Number(view.getBigUint64(at + 32, true))
    return `linux ${machine} ${new TextDecoder().decode(bytes.subarray(from, from + length - 1))}`
  }
  return `linux ${machine}`
}

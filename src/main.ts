import { writeFileSync } from 'node:fs'

/** Of a process's memory only the first page of each file that is mapped in it; core(5). */
const headersOnly = '0x10'

/**
 * Keeps the memory of this process, which holds secrets, out of its core dumps. They keep the registers and the names of
 * the loaded programs and libraries. Only Linux has this setting; elsewhere core dumps should be forbidden.
 */
const keepMemoryOutOfCoreDumps = (): void => {
  if (process.platform !== 'linux') return
  try {
    writeFileSync('/proc/self/coredump_filter', headersOnly)
  } catch {
    // A sandbox hides /proc or forbids writing to it.
  }
}

/**
 * A server outlives SIGHUP (`serve`), also one that comes while the rest of the program is loaded. Nothing is to be done about that one:
 * the start reads all settings anyway.
 */
const outliveEarlyHangup = (): void => {
  if (process.argv[2] === 'serve') process.on('SIGHUP', () => undefined)
}

outliveEarlyHangup() // before all else, because until then the signal ends the process
// Files that this program creates are readable by its own user only.
process.umask(0o077)
keepMemoryOutOfCoreDumps()
const { runProgram } = await import('./cli/program.ts')
const exitCode = await runProgram(process.argv.slice(2))
if (exitCode !== 0) process.exitCode = exitCode // 0 is not set: a failed write of the output may have set another code

import { runProgram } from './cli/program.ts'
import { keepMemoryOutOfCoreDumps } from './runtime/core-dump.ts'

// Before anything else: whatever this program creates is for its own user alone, and its memory for itself.
process.umask(0o077)
keepMemoryOutOfCoreDumps()
const exitCode = await runProgram(process.argv.slice(2))
if (exitCode !== 0) process.exitCode = exitCode // what was written may yet turn out to be lost, which is no success

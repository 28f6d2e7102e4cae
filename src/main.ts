import { runProgram } from './cli/program.ts'

// Before anything else: whatever this program creates is for its own user alone.
process.umask(0o077)
process.exitCode = await runProgram(process.argv.slice(2))

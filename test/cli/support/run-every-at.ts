/*
 * A process of its own for the commands at a place that only it sees: runs them all, and prints how each ended. The words are a backup
 * for `restore`, and a pattern of names.
 */
import { copyFileSync } from 'node:fs'
import { programCommand } from '../../support/program.ts'
import { removeTemporaryFolders } from '../../support/temporary-folder.ts'
import { backupFile, everyOnFile, isServer, runOne } from './every-command.ts'
import type { Run } from './run.ts'

const [backup = '', pattern = ''] = process.argv.slice(2)
const url = process.env['DATABASE_URL'] ?? ''
const env = { DATABASE_URL: url }

/** A server must not start here, which would print its address. Without the flag, dev has a database of its own. */
const runServer = async (words: readonly string[]): Promise<Run> => {
  const child = Bun.spawn([...programCommand, ...words, '--port', '0', '--database', url], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const errors = new Response(child.stderr).text()
  const { value } = await child.stdout.getReader().read()
  if (value !== undefined) child.kill()
  return { exitCode: await child.exited, stdout: new TextDecoder().decode(value), stderr: await errors }
}

/** Ends what a command has left behind in this process: the listener that ends it after a fault, and the user that it acts as. */
const asOwnProcess = async (words: readonly string[]): Promise<Run> => {
  const before = process.listeners('exit')
  const run = await runOne(words, env)
  for (const listener of process.listeners('exit')) if (!before.includes(listener)) process.off('exit', listener)
  process.seteuid?.(0)
  process.setegid?.(0)
  process.setgroups?.([0])
  return run
}

copyFileSync(backup, backupFile)
const found: (readonly [name: string, run: Run])[] = []
/** The last ones take a database out of use, or repair it. */
const last = ['move', 'restore']
const rank = ([name]: (typeof everyOnFile)[number]): number => last.indexOf(name)
const order = everyOnFile.toSorted((one, other) => rank(one) - rank(other))
for (const [name, words] of order) {
  if (!new RegExp(pattern).test(name)) continue
  found.push([name, isServer(name) ? await runServer(words) : await asOwnProcess(words)])
}
process.stdout.write(JSON.stringify(found))
removeTemporaryFolders()

/**
 * `bun run dev`: a fresh demo of the server; with `--builder`, the sample builder next to it, so that the whole story can be
 * clicked through. Everything is made with public commands.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startSampleBuilder } from './builder.ts'

const program = [process.execPath, join(import.meta.dir, '../../src/main.ts')]
const builderPort = 4000
const words = process.argv.slice(2)
const withBuilder = words.includes('--builder')
const folder = mkdtempSync(join(tmpdir(), 'app-platform-dev-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
const database = join(folder, 'demo.db')

const settings = withBuilder
  ? {
      SIGN_IN: 'handover',
      SIGN_IN_URL: `http://localhost:${builderPort}/apps/sign-in`,
      SIGN_OUT_URL: `http://localhost:${builderPort}/`,
      PASSWORD_FOR: 'operators',
      INSTALL_APPROVAL: 'automatic',
    }
  : {}
const named = words.filter((word) => word !== '--builder')
const place = withBuilder ? ['--database', database] : []
const server = Bun.spawn([...program, 'dev', ...named, ...place], {
  env: { ...process.env, ...settings },
  stdin: 'inherit',
  stdout: withBuilder ? 'pipe' : 'inherit',
  stderr: 'inherit',
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => server.kill(signal))

/** The address of the server, once it has said it. What it says later is not shown: the walk is for a demo without a builder. */
const addressIn = async (lines: ReadableStream<Uint8Array>): Promise<string> => {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder()
    let said = ''
    for await (const chunk of lines) {
      said += decoder.decode(chunk, { stream: true })
      const address = /fresh demo is at (http:\/\/\S+?);/.exec(said)?.[1]
      const end = said.indexOf('Client IDs and secrets')
      if (address === undefined || end === -1) continue
      // Only operators have passwords here.
      process.stdout.write(said.slice(0, end).replaceAll(/^ {2}\S+@\S+ {2}\S+\n/gm, ''))
      resolve(address)
      said = ''
    }
    reject(new Error('The demo did not start.'))
  }
  read().catch(reject)
  return await promise
}

if (withBuilder && server.stdout instanceof ReadableStream) {
  const platform = await addressIn(server.stdout)
  const rights = 'users:write,resources:write,sign-in'
  const key = ['service-key', 'create', 'Sample builder', '--rights', rights, '--database', database, '--json']
  const made = Bun.spawnSync([...program, ...key])
  if (!made.success) throw new Error(made.stderr.toString())
  const { secret } = JSON.parse(made.stdout.toString())
  const builder = startSampleBuilder({ port: builderPort, platform, serviceKey: secret })
  await builder.sendPeopleAndSites()
  process.stdout
    .write(`The sample builder is at ${builder.url}. Its people have no accounts of their own at App Platform:

  1. Open ${builder.url} and sign in as Ines Baker.
  2. Follow "Apps on your sites": you are signed in at ${platform} without a form. Install Newsletter Studio on Bakery.
  3. Operators still sign in with a password, at ${platform}/sign-in?way=password
`)
}
process.exit(await server.exited) // the sample builder would go on alone

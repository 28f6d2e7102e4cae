/**
 * `bun run dev`: a fresh demo of the server; with `--builder`, the sample builder and the sample app next to it, so that the whole story
 * can be clicked through. Everything is made with public commands.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startSampleBuilder } from './builder.ts'

const program = [process.execPath, join(import.meta.dir, '../../src/main.ts')]
const { BUILDER_PORT: builderPort = '4000', APP_URL: appUrl = 'https://localhost:8443' } = process.env
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

/** Runs a command of the program on the demo, and returns its answer. */
const command = (words: readonly string[], env: Record<string, string> = {}) => {
  const ran = Bun.spawnSync([...program, ...words, '--json'], { env: { ...process.env, ...env } })
  if (!ran.success) throw new Error(`${words.slice(0, 2).join(' ')}: ${ran.stderr.toString()}`)
  return JSON.parse(ran.stdout.toString())
}
const operator = (...words: readonly string[]) => command([...words, '--database', database])

/** Registers the sample app, makes its first version live, and starts it. */
const startApp = (platform: string) => {
  const slug = 'page-list'
  const scopes = 'profile:read site:read pages:read'
  operator('app', 'create', '--owner', 'ada@example.com', '--name', 'Page List', '--slug', slug, '--scopes', scopes)
  operator('redirect', 'add', slug, '--environment', 'production', `${appUrl}/callback`)
  const kinds = 'install.approved,install.deactivated,resource.updated,resource.removed,user.erased'
  const endpoint = ['--environment', 'production', '--url', `${appUrl}/webhooks`, '--kinds', kinds]
  const { secret } = operator('endpoint', 'add', slug, ...endpoint)

  const version = join(folder, 'version')
  mkdirSync(version)
  const manifest = { name: 'Page List', scopes: scopes.split(' '), embedUrl: `${appUrl}/frame` }
  writeFileSync(join(version, 'app.json'), JSON.stringify(manifest))
  const development = operator('credential', 'create', slug, '--environment', 'development')
  command(['versions', 'create', version, '--version', '1.0.0'], {
    APP_PLATFORM_URL: platform,
    APP_PLATFORM_CLIENT_ID: development.clientId,
    APP_PLATFORM_CLIENT_SECRET: development.clientSecret,
  })
  for (const step of ['submit', 'approve', 'activate']) operator('review', step, slug, '1.0.0')

  const certificates = join(folder, 'certificates')
  const made = Bun.spawnSync([...program, 'dev-certificate', certificates])
  if (!made.success) throw new Error(made.stderr.toString())
  const production = operator('credential', 'create', slug, '--environment', 'production')
  return Bun.spawn([process.execPath, join(import.meta.dir, '../sample-app/app.ts')], {
    env: {
      ISSUER: platform,
      APP_URL: appUrl,
      BUILDER: `http://localhost:${builderPort}`,
      SCOPE: scopes,
      CERTIFICATES: certificates,
      CLIENT_ID: production.clientId,
      CLIENT_SECRET: production.clientSecret,
      WEBHOOK_SECRET: secret,
    },
    stdin: 'ignore',
    stdout: 'inherit',
    stderr: 'inherit',
  })
}

const apps: ReturnType<typeof startApp>[] = []
const addBuilderAndApp = async (lines: ReadableStream<Uint8Array>): Promise<void> => {
  const platform = await addressIn(lines)
  const rights = 'users:write,resources:write,scopes:write,sign-in'
  const { secret } = operator('service-key', 'create', 'Sample builder', '--rights', rights)
  const builder = startSampleBuilder({ port: Number(builderPort), platform, serviceKey: secret })
  await builder.sendEverything()
  apps.push(startApp(platform))
  process.stdout
    .write(`The sample builder is at ${builder.url}. Its people have no accounts of their own at App Platform:

  1. Open ${appUrl} once and accept its certificate: the sample app runs there.
  2. Open ${builder.url} and sign in as Ines Baker.
  3. Follow "Apps on your sites": you are signed in at ${platform} without a form. Install Page List on Bakery, and open it.
  4. At ${appUrl}/pages, allow it to read your pages: it asks the builder's own API for them. Uninstall it, and try again.
  5. Operators still sign in with a password, at ${platform}/sign-in?way=password

What the sample app says when a webhook comes is printed below.
`)
}
if (withBuilder && server.stdout instanceof ReadableStream) {
  await addBuilderAndApp(server.stdout).catch((error: unknown) => {
    server.kill()
    throw error
  })
}
const exitCode = await server.exited
for (const app of apps) app.kill()
process.exit(exitCode) // the sample builder would go on alone

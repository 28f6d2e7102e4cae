import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { version } from '../../package.json'
import { readConfig } from '../../src/config.ts'
import { freePort } from '../clients/support/free-port.ts'
import type { Json } from '../support/call.ts'
import { guide } from '../support/documents.ts'
import { needs, programAt } from '../support/needs.ts'
import { startServer } from '../support/running-server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type PrintedProxy, startCaddy, startNginx } from './support/printed-proxy.ts'
import { deskAt, runHere } from './support/run.ts'

const print = async (what: string, env: Readonly<Record<string, string>>, ...words: readonly string[]) => {
  const { exitCode, stdout, stderr } = await runHere(['print', what, ...words], { env, cwd: temporaryFolder() })
  expect(exitCode).toBe(0)
  expect(stderr).toMatch(/^(warning: [^\n]+\n)*$/)
  return stdout
}

const settings = {
  PORT: '8443',
  HOST: '::1',
  PUBLIC_URL: 'https://apps.example.com',
  DATABASE_URL: 'file:/var/lib/a%20place/100%25/$it.db',
  TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8',
  RATE_LIMIT_TOKEN: '900/60',
  LIFETIME_SESSION: '600',
  PLATFORM_NAME: 'A {{program}} $& "b"',
  WEBHOOK_ALLOWED_NETWORKS: '10.1.0.0/16',
}

/** The Environment lines of a unit as systemd reads them (systemd.syntax(7)). */
const environmentOf = (unit: string): Record<string, string> =>
  Object.fromEntries(
    [...unit.matchAll(/^Environment="(.*)"$/gm)].map(([, text = '']) => {
      const plain = text.replaceAll(/\\(["\\])/g, '$1').replaceAll('%%', '%')
      const equals = plain.indexOf('=')
      return [plain.slice(0, equals), plain.slice(equals + 1)]
    }),
  )

test('the unit starts the server with the current settings, whatever characters they contain', async () => {
  const unit = await print('systemd', settings)
  expect(readConfig({}, environmentOf(unit))).toEqual(readConfig({}, settings))
  expect(unit).toContain('StateDirectory="a place/100%%"\n')
  const flags = await print('systemd', settings, '--port', '9000', '--database', '/var/lib/other/x.db')
  expect(environmentOf(flags)).toMatchObject({ PORT: '9000', DATABASE_URL: 'file:/var/lib/other/x.db' })
  expect(Object.keys(environmentOf(await print('systemd', { SECRET: 'x' })))).toEqual(['DATABASE_URL', 'HOST', 'PORT'])
})

test('without a database setting, the service keeps its database in /var/lib', async () => {
  const unit = await print('systemd', {})
  expect(environmentOf(unit)['DATABASE_URL']).toBe('file:/var/lib/app-platform/app-platform.db')
  expect(unit).toContain('StateDirectory="app-platform"\n')
  const elsewhere = await print('systemd', { DATABASE_URL: 'file:/srv/apps/x.db' })
  expect(elsewhere).toContain('ReadWritePaths="/srv/apps"\n')
  expect(elsewhere).not.toContain('StateDirectory=')
})

test('on PostgreSQL the unit keeps the URL in a file of root, and the printed text never has its password', async () => {
  const env = { ...settings, DATABASE_URL: 'postgres://app:canary@localhost/apps' }
  const unit = await print('systemd', env)
  expect(unit).toContain('EnvironmentFile=/etc/app-platform.env\n')
  expect(unit).toContain('test -e /etc/app-platform.env || install -m 0600 /dev/null /etc/app-platform.env')
  expect(unit).not.toMatch(/StateDirectory|ReadWritePaths/)
  expect(unit + (await print('nginx', env)) + (await print('caddy', env))).not.toContain('canary')
  const timer = await print('backup-timer', env)
  expect(timer).toContain('EnvironmentFile=/etc/app-platform.env\n')
  expect(timer).toContain('17 3 * * * root set -a; . /etc/app-platform.env; exec /')
  expect(timer).toContain(' backup /var/lib/app-platform-backups --keep 14 --check >/dev/null\n')
  expect(timer).not.toMatch(/canary|ReadWritePaths|StateDirectory="app-platform"/)
})

test('each flag of a print command changes what it prints, and a URL with a password only where it is read from', async () => {
  const values = {
    port: '4001',
    host: '::1',
    'public-url': 'https://other.example',
    database: '/var/lib/app-platform/x.db',
  }
  const env = { PUBLIC_URL: 'https://apps.example.com', DATABASE_URL_FILE: join(temporaryFolder(), 'url') }
  await Bun.write(env.DATABASE_URL_FILE, 'postgres://app@localhost/apps\n')
  for (const what of ['systemd', 'backup-timer', 'caddy', 'nginx', 'container', 'alerts']) {
    const usual = await print(what, env)
    const help = (await runHere(['print', what, '--help'])).stdout
    for (const [flag, value] of Object.entries(values).filter(([name]) => help.includes(`--${name} `))) {
      const changed = await print(what, env, `--${flag}`, value)
      expect({ what, flag, isThere: changed.includes(value.replace(/^https:\/\//, '')) }).toMatchObject({
        isThere: true,
      })
      expect(changed).not.toBe(usual)
    }
    if (!help.includes('--database ')) continue
    const named = await print(what, env, '--database', 'postgres://app:canary@localhost/apps')
    expect(named).toBe(await print(what, { PUBLIC_URL: env.PUBLIC_URL, DATABASE_URL: 'postgres://app@localhost/apps' }))
    expect(named).toContain('app-platform.env')
  }
})

test('secret settings are in a file of their own, and no printed text has their values', async () => {
  const env = {
    ...settings,
    SMTP_URL: 'smtp://app:canary@mail.example.com:587',
    MAIL_FROM: 'apps@example.com',
    SIGN_IN: 'oidc',
    OIDC_ISSUER: 'https://id.example.com',
    OIDC_CLIENT_ID: 'apps',
    OIDC_CLIENT_SECRET: 'canary',
  }
  const unit = await print('systemd', env)
  expect(unit).toContain("with these lines in it: OIDC_CLIENT_SECRET='…' and SMTP_URL='…'\n")
  expect(unit).toContain('EnvironmentFile=/etc/app-platform.env\nStateDirectory=')
  const database = 'file:/var/lib/app-platform/app-platform.db'
  const { services, steps } = await printContainer({ ...env, DATABASE_URL: database, PUBLIC_URL: 'https://a.example' })
  expect(services['app-platform']).toMatchObject({ env_file: 'app-platform.env', volumes: [expect.any(String)] })
  expect(steps).toContain('SMTP_URL=')
  expect(unit + JSON.stringify(services) + steps).not.toContain('canary')
})

test('a service on a port below 1024 gets only the capability for it, and any other service none', async () => {
  const unit = await print('systemd', { PORT: '443', HOST: '0.0.0.0' })
  expect(unit).toMatch(/^CapabilityBoundingSet=CAP_NET_BIND_SERVICE$/m)
  expect(unit).not.toContain('PrivateUsers')
  const usual = await print('systemd', {})
  expect(usual).toMatch(/^CapabilityBoundingSet=$/m)
  expect(usual).not.toContain('IPAddressDeny') // webhooks need outgoing connections
})

test('print repeats the warnings of serve and still prints the configuration', async () => {
  const { stdout, stderr } = await runHere(['print', 'systemd'], { env: { TRUSTED_PROXY: '127.0.0.1' } })
  expect(stderr).toMatch(/^warning: [^\n]*TRUSTED_PROXIES[^\n]*\n$/)
  expect(stdout).toContain('[Service]')
})

test('settings that cannot be printed are refused in one sentence', async () => {
  const refused: readonly (readonly [words: string[], says: RegExp])[] = [
    [['systemd', '--port', '0'], /PORT is 0/],
    [['systemd', '--database', '/home/ada/x.db'], /cannot see a database in \/home\/ada/],
    [['caddy'], /PUBLIC_URL is not set/],
    [['container'], /PUBLIC_URL is not set/],
    [
      ['container', '--public-url', 'https://a.example', '--database', '/srv/x.db'],
      /In a container the database is in/,
    ],
    [['nginx'], /PUBLIC_URL is not set/],
    [['systemd', '--port', 'many'], /--port must be a whole number/],
  ]
  for (const [words, says] of refused) {
    const { exitCode, stdout, stderr } = await runHere(['print', ...words])
    expect({ words, exitCode, stdout }).toEqual({ words, exitCode: 2, stdout: '' })
    expect(stderr).toMatch(/^error: [^\n]+\n$/)
    expect(stderr).toMatch(says)
  }
})

test('the service writes no core dump, which would contain secrets', async () => {
  expect(await print('systemd', {})).toMatch(/^LimitCORE=0$/m)
})

needs('systemd-analyze').test('systemd accepts the unit and rates its exposure as low', async () => {
  const places = ['file:/srv/apps/x.db', 'postgres://app@localhost/apps'].map((url) => ({ DATABASE_URL: url }))
  for (const env of [settings, {}, { PORT: '443', HOST: '0.0.0.0' }, ...places]) {
    const file = join(temporaryFolder(), 'app-platform.service')
    const unit = await print('systemd', env)
    await Bun.write(file, unit.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`))
    const analyze = async (...words: readonly string[]) => {
      const child = Bun.spawn(['systemd-analyze', ...words, file], { stdout: 'pipe', stderr: 'pipe' })
      const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
      return { exitCode: await child.exited, out, err }
    }
    const { exitCode, err } = await analyze('verify', '--man=no')
    expect({ exitCode, err: err.split('\n').filter((line) => line.includes('app-platform.service')) }).toEqual({
      exitCode: 0,
      err: [],
    })
    // Out of 100. systemd calls an exposure below 20 "OK".
    expect((await analyze('security', '--offline=true', '--threshold=20')).exitCode).toBe(0)
  }
})

/** Rules that hold for every proxy in front of the server. */
const expectGoodProxy = async (
  start: (env: Readonly<Record<string, string>>, port: string) => Promise<PrintedProxy>,
  origin: string,
) => {
  const env = { PUBLIC_URL: origin, TRUSTED_PROXIES: '127.0.0.1' }
  const server = await startServer({ env })
  const proxy = await start(env, new URL(server.url).port)
  const json = { 'Content-Type': 'application/json', 'X-Service-Api-Version': '2026-08' }

  const refused = await proxy.fetch('/api/app-platform/token', {
    method: 'POST',
    headers: { ...json, 'X-Forwarded-For': '203.0.113.9' },
    body: JSON.stringify({ clientId: 'apc_dev_nobody', clientSecret: 'wrong', scope: 'site:read' }),
  })
  expect(refused.status).toBe(401)
  const { data } = await deskAt(server.database).json(['audit', 'list'])
  expect(data.map(({ address }: { address: string }) => address)).toEqual(['127.0.0.1'])

  // The server, not the proxy, refuses bodies that are too large.
  const large = await proxy.fetch('/api/app-platform/token', {
    method: 'POST',
    headers: json,
    body: 'x'.repeat(16 * 1024 * 1024),
  })
  expect(large.status).toBe(413)
  expect(await large.json()).toMatchObject({ error: { code: 'payload_too_large' } })

  const imported = await proxy.fetch('/api/management/resources/import', {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-ndjson' },
    body: 'x'.repeat(18 * 1024 * 1024),
  })
  expect(imported.status).toBe(401)
  expect(await imported.json()).toMatchObject({ error: { code: 'invalid_token' } })

  expect((await proxy.fetch('/sign-in')).status).toBe(200)
  expect((await proxy.fetch('/metrics')).status).toBe(404)
  expect((await fetch(`${server.url}/metrics`)).status).toBe(200)

  // Links have secrets in their query, also in that of the page before, and apps get codes in a redirect.
  const secret = `appl_${'canary'.repeat(10)}`
  const link = `/set-password?link=${secret}`
  const linked = { headers: { Referer: origin + link, 'X-Secret': secret } }
  expect((await proxy.fetch(link, linked)).status).toBeLessThan(500)
  expect((await proxy.fetch(`/account?next=${secret}`, linked)).headers.get('location')).toContain(secret)
  await server.stop()
  expect((await proxy.fetch(`${link}-while-down`, linked)).status).toBeGreaterThanOrEqual(502)
  const log = await proxy.stop()
  expect(log.split('\n').filter((line) => line.includes('/set-password') && /\b(?:502|503)\b/.test(line))).toHaveLength(
    1,
  )
  expect(log).toContain('/account')
  expect(log).not.toContain('canary')
}

needs('nginx', 'openssl').test('nginx serves the printed site, and no client can fake its address', async () => {
  const origin = `https://localhost:${freePort()}`
  await expectGoodProxy(
    async (env, port) => await startNginx([programAt('nginx')], await print('nginx', env, '--port', port), origin),
    origin,
  )
})

const caddy = needs('caddy').test
caddy('Caddy serves the printed site, and no client can fake its address', async () => {
  const origin = `http://127.0.0.1:${freePort()}`
  await expectGoodProxy(async (env, port) => {
    const site = await print('caddy', env, '--port', port)
    // So long it waits for a server that is down; `proxy-restart.test.ts` lets it.
    expect(site).toMatch(/lb_try_duration \d+s/)
    return await startCaddy([programAt('caddy')], site.replace(/lb_try_duration \d+s/, 'lb_try_duration 1s'), origin)
  }, origin)
})

const askCaddy = (...words: readonly string[]) =>
  Bun.spawnSync([programAt('caddy'), ...words], { env: { HOME: temporaryFolder() } })

caddy('Caddy finds the printed site valid and well formatted', async () => {
  const file = join(temporaryFolder(), 'Caddyfile')
  await Bun.write(file, await print('caddy', settings))
  expect(askCaddy('validate', '--adapter', 'caddyfile', '--config', file).exitCode).toBe(0)
  expect(askCaddy('fmt', file).stdout.toString()).toBe(await Bun.file(file).text())
})

caddy(
  'the lines of the guide that print a site for Caddy can be run again, beside a site of somebody else',
  async () => {
    const folder = temporaryFolder()
    const printed = join(folder, 'printed')
    const file = join(folder, 'Caddyfile')
    await Bun.write(file, 'http://other.example {\n\trespond 204\n}\n')
    const lines = /```sh\n([^`]*print caddy[^`]*)```/.exec(await guide('operate/proxy'))?.[1] ?? ''
    expect(lines).toContain('/etc/caddy/Caddyfile')
    const here = lines
      .replaceAll('/etc/caddy', folder)
      .replace('app-platform print caddy', `cat ${printed}`)
      .replace('systemctl reload caddy', '')
    for (const port of ['3000', '3001']) {
      await Bun.write(printed, await print('caddy', settings, '--port', port))
      expect(Bun.spawnSync(['sh', '-c', here]).exitCode).toBe(0)
      expect(askCaddy('validate', '--adapter', 'caddyfile', '--config', file).exitCode).toBe(0)
      const adapted = askCaddy('adapt', '--adapter', 'caddyfile', '--config', file).stdout.toString()
      expect(adapted).toContain(`[::1]:${port}`)
      expect(adapted).toContain('other.example')
    }
  },
)

needs('systemd-analyze').test('systemd accepts the backup timer and its service', async () => {
  for (const env of [{}, { DATABASE_URL: 'file:/srv/apps/x.db' }]) {
    const [, service = '', timer = ''] = (await print('backup-timer', env)).split(/^# ---- .*$/m)
    const folder = temporaryFolder()
    const paths = [join(folder, 'app-platform-backup.service'), join(folder, 'app-platform-backup.timer')]
    await Bun.write(paths[0] ?? '', service.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`))
    await Bun.write(paths[1] ?? '', timer)
    const child = Bun.spawn(['systemd-analyze', 'verify', '--man=no', ...paths], { stdout: 'pipe', stderr: 'pipe' })
    const err = await new Response(child.stderr).text()
    expect({
      exitCode: await child.exited,
      err: err.split('\n').filter((line) => line.includes('app-platform')),
    }).toEqual({ exitCode: 0, err: [] })
    expect(service).toContain('--keep 14 --check')
    expect(service).toMatch(/^Environment="DATABASE_URL=file:\//m)
  }
})

test('the files of the backup timer and of the container are written into a folder, as they would be printed', async () => {
  const env = { PUBLIC_URL: 'https://apps.example.com', TRUSTED_PROXIES: '127.0.0.1' }
  for (const what of ['backup-timer', 'container']) {
    const folder = temporaryFolder()
    const [steps = '', ...parts] = (await print(what, env)).split(/^# ---- (.+)\n/m)
    expect(await print(what, env, '--to', folder)).toBe(steps.replace(/\n+$/, '\n'))
    for (let at = 0; at < parts.length; at += 2)
      expect(await Bun.file(join(folder, parts[at] ?? '')).text()).toBe(parts[at + 1]?.replace(/\n+$/, '\n') ?? '')
    expect(readdirSync(folder).length).toBe(parts.length / 2)
    const { exitCode, stdout, stderr } = await runHere(['print', what, '--to', join(folder, 'missing')], { env })
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
    expect(stderr).toMatch(/^error: There is no such file or folder: [^\n]*missing[^\n]*\n$/)
  }
})

/** The three files that `print container` prints. */
const printContainer = async (env: Readonly<Record<string, string>>) => {
  const [steps = '', image = '', compose = '', site = ''] = (await print('container', env)).split(/^# ---- .*\n/m)
  const parsed: Json = Bun.YAML.parse(compose)
  const { services, volumes, networks } = parsed
  return { steps, image, services, volumes, networks, site }
}

test('the container runs as a user of its own on a read-only file system, and only its folder is kept', async () => {
  const { PORT, PUBLIC_URL, RATE_LIMIT_TOKEN } = settings
  const env = { PUBLIC_URL, RATE_LIMIT_TOKEN, PLATFORM_NAME: 'A $HOME "b": #c {{user}}' }
  const { image, services, volumes, networks } = await printContainer({ ...env, PORT, TRUSTED_PROXIES: '127.0.0.1' })
  expect(image).toMatch(/^USER 10001:10001$/m)
  expect(image).toMatch(/^ENV HOST=0\.0\.0\.0 PORT=8443 DATABASE_URL=file:\/var\/lib\/app-platform\/app-platform\.db$/m)
  expect(image).toContain('VOLUME ["/var/lib/app-platform"]')
  expect(image).toContain('CMD ["app-platform", "health"]')
  expect(image.match(/^ENTRYPOINT (.+)$/m)?.[1]).toBe('["tini", "--", "app-platform"]')
  const server = services['app-platform']
  expect(server).toMatchObject({ read_only: true, user: '10001:10001', volumes: ['data:/var/lib/app-platform'] })
  expect(server.ports).toBeUndefined() // only Caddy is reached from outside
  expect(server.image).toBe(`app-platform:${version}`)
  for (const { logging } of [server, services.caddy])
    expect(logging.options).toEqual({ 'max-size': '10m', 'max-file': '5' })
  // compose writes a dollar sign as two, and Caddy is in the network that is trusted
  expect(server.environment).toEqual({
    ...env,
    PLATFORM_NAME: 'A $$HOME "b": #c {{user}}',
    TRUSTED_PROXIES: networks.inside.ipam.config[0].subnet,
  })
  expect(services.caddy.ports).toEqual(['80:80', '443:443', '443:443/udp'])
  expect(Object.keys(volumes)).toEqual(['data', 'caddy-data'])
})

test('with PostgreSQL the container has no volume, and the URL is in a file of its own', async () => {
  const env = {
    PUBLIC_URL: 'https://apps.example.com:8443',
    DATABASE_URL: 'postgres://app:canary@db/apps?sslmode=verify-full',
  }
  expect(await print('container', env)).not.toContain('canary')
  const { image, services, volumes, steps } = await printContainer(env)
  expect(image).not.toMatch(/VOLUME|DATABASE_URL/)
  expect(services['app-platform']).toMatchObject({ env_file: 'app-platform.env' })
  expect(steps).toContain('app-platform.env')
  expect(services.caddy.ports).toEqual(['80:80', '8443:8443', '8443:8443/udp'])
  expect(Object.keys(volumes)).toEqual(['caddy-data'])
})

test('the unit lets the service write to the folder of its backups, and refuses one that it cannot see', async () => {
  const PUBLIC_URL = 'https://apps.example.com'
  const unit = async (folder: string) => await print('systemd', { PUBLIC_URL, BACKUP_DIRECTORY: folder })
  expect(await unit('/var/lib/app-platform-backups')).toContain('StateDirectory="app-platform-backups"')
  expect(await unit('/srv/backups')).toContain('ReadWritePaths="/srv/backups"')
  expect(await unit('none')).not.toContain('/backups')
  const env = { PUBLIC_URL, BACKUP_DIRECTORY: '/home/me/backups' }
  const { exitCode, stderr } = await runHere(['print', 'systemd'], { env, cwd: temporaryFolder() })
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining('cannot see backups in /home/me/backups')])
})

const bound = (path: string, access?: 'read-only') => ({
  type: 'bind',
  source: path,
  target: path,
  ...(access === undefined ? {} : { read_only: true }),
})

test('every place that a setting names is in the container, where its user can reach it', async () => {
  const folder = temporaryFolder()
  const secret = join(folder, 'a secret: of $mail')
  await Bun.write(secret, 'smtp://mail.example.com')
  const database = join(folder, 'database.url')
  await Bun.write(database, 'postgres://app:canary@db.example/apps?sslmode=verify-full&sslrootcert=/etc/ssl/db.pem')
  const backups = { BACKUP_DIRECTORY: '/srv/app backups' }
  const env = { PUBLIC_URL: 'https://a.example', SMTP_URL_FILE: secret, MAIL_FROM: 'a@example.com', ...backups }
  const { steps, services } = await printContainer({ ...env, DATABASE_URL_FILE: database })
  const mounted = [
    bound('/srv/app backups'),
    bound(database, 'read-only'),
    bound(secret.replace('$', '$$$$'), 'read-only'),
    bound('/etc/ssl/db.pem', 'read-only'),
  ]
  expect(services['app-platform'].volumes).toEqual(mounted)
  expect(steps).toContain('install -d -m 0700 -o 10001 -g 10001 "/srv/app backups"')
  expect(steps.replaceAll('"', '')).toContain(`chown 10001 ${database}\n`) // quoted if its random name has a digit
  expect(steps).not.toContain('chown 10001 /etc/ssl/db.pem')
  const named = Object.values<string>(services['app-platform'].environment).filter((value) => value.startsWith('/'))
  expect(named.toSorted()).toEqual(
    mounted
      .slice(0, 3)
      .map(({ target }) => target)
      .toSorted(),
  )

  const inVolume = { ...env, BACKUP_DIRECTORY: '/var/lib/app-platform/' }
  const { services: own } = await printContainer(inVolume)
  expect(own['app-platform'].volumes).toEqual(['data:/var/lib/app-platform', mounted[2]])
})

test('a file that a service cannot see is warned of', async () => {
  const ofDatabase = { DATABASE_URL: 'postgres://app@db/a?sslmode=verify-full&sslrootcert=/root/db.pem' }
  const warned: readonly (readonly [what: string, env: Readonly<Record<string, string>>, says: string])[] = [
    ['systemd', { SMTP_URL_FILE: '/home/me/smtp.url' }, 'the file of SMTP_URL_FILE in /home/me:'],
    ['systemd', { OIDC_CLIENT_SECRET_FILE: '/tmp/secret' }, 'the file of OIDC_CLIENT_SECRET_FILE in /tmp:'],
    ['systemd', ofDatabase, 'the file of DATABASE_URL in /root:'],
    ['backup-timer', ofDatabase, 'the file of DATABASE_URL in /root:'],
  ]
  for (const [what, env, says] of warned) {
    const { exitCode, stderr } = await runHere(['print', what], { env, cwd: temporaryFolder() })
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining(`warning: A service cannot see ${says}`)])
  }
})

test('a place that no container could reach is refused, and a secret in its place is not repeated', async () => {
  const refused: readonly (readonly [what: string, env: Readonly<Record<string, string>>, says: string])[] = [
    ['container', { SMTP_URL_FILE: 'smtp://canary@mail.example' }, 'SMTP_URL_FILE must be the absolute path'],
    ['container', { BACKUP_DIRECTORY: '/srv' }, '/srv is for all programs'],
  ]
  for (const [what, more, says] of refused) {
    const env = { PUBLIC_URL: 'https://a.example', MAIL_FROM: 'a@example.com', ...more }
    const { exitCode, stdout, stderr } = await runHere(['print', what], { env, cwd: temporaryFolder() })
    expect({ more, exitCode, stdout }).toEqual({ more, exitCode: 2, stdout: '' })
    expect(stderr).toContain(says)
    expect(stderr).not.toContain('canary')
  }
})

test('the container publishes its metrics to the host alone, and mounts the authorities of PostgreSQL', async () => {
  const url = 'postgres://app:canary@db.example/apps?sslmode=verify-full&sslrootcert=/etc/ssl/db.pem'
  const PUBLIC_URL = 'https://apps.example.com'
  const { services } = await printContainer({ PUBLIC_URL, DATABASE_URL: url, METRICS_LISTEN: '127.0.0.1:9464' })
  const { ports, volumes, environment } = services['app-platform']
  expect([ports, volumes]).toEqual([['127.0.0.1:9464:9464'], [bound('/etc/ssl/db.pem', 'read-only')]])
  expect(environment.METRICS_LISTEN).toBe('0.0.0.0:9464')
})

caddy('Caddy finds the site of the container valid and well formatted', async () => {
  const file = join(temporaryFolder(), 'Caddyfile')
  await Bun.write(file, (await printContainer({ PUBLIC_URL: 'https://apps.example.com' })).site)
  expect(askCaddy('validate', '--adapter', 'caddyfile', '--config', file).exitCode).toBe(0)
  expect(askCaddy('fmt', file).stdout.toString()).toBe(await Bun.file(file).text())
})

test('no printed unit takes a folder that other programs use', async () => {
  for (const file of ['/app.db', '/etc/app.db', '/var/lib/app.db', '/srv/app.db', '/usr/local/app.db']) {
    const { exitCode, stderr } = await runHere(['print', 'systemd'], {
      env: { DATABASE_URL: `file:${file}` },
      cwd: temporaryFolder(),
    })
    expect([file, exitCode, stderr]).toEqual([
      file,
      2,
      expect.stringContaining('is for all programs: choose a folder of its own'),
    ])
  }
})

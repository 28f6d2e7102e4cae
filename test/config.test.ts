import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError, readCommandConfig, readConfig, readDatabasePlace, readMailConfig } from '../src/config.ts'
import { sharedSettings } from '../src/config/shared.ts'
import { defaultLifetimes } from '../src/domain/lifetimes.ts'
import { defaultRateLimits } from '../src/domain/limits.ts'
import { passwordOnly } from './support/operator.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const faultsOf = (env: Record<string, string>, flags: Parameters<typeof readConfig>[0] = {}): readonly string[] => {
  try {
    readConfig(flags, env)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.faults
    throw error
  }
}

const mailOf = (url: string, from = 'apps@example.com') => readConfig({}, { SMTP_URL: url, MAIL_FROM: from }).mail

const digests = (env: Record<string, string>) => sharedSettings(readConfig({}, env))

describe('settings', () => {
  test('without any, the server is private to this machine and limits are on', () => {
    const config = readConfig({}, {})
    expect(config).toMatchObject({
      host: '127.0.0.1',
      port: 3000,
      database: { kind: 'sqlite', path: './data/app-platform.db' },
      publicUrl: null,
      trustedProxies: [],
      rateLimits: defaultRateLimits,
      longestWaitMs: 2_000,
      lifetimes: defaultLifetimes,
      signIn: passwordOnly,
      identityProvider: null,
      appCreation: 'everyone',
      installApproval: 'manual',
      warnings: [],
    })
    expect(Object.isFrozen(config)).toBe(true)
  })

  test('are told with value, origin and default, and of secrets only that they are set', () => {
    const file = join(temporaryFolder(), 'smtp')
    writeFileSync(file, 'smtp://me:hidden-1@mail.example:587')
    const env = {
      PORT: '4000',
      SMTP_URL_FILE: file,
      MAIL_FROM: 'apps@example.com',
      RATE_LIMIT_TOKEN: '7/60',
      DATABASE_URL: 'postgres://app:hidden-2@db.example/app?sslmode=verify-full',
      SIGN_IN: 'password,oidc',
      OIDC_ISSUER: 'https://id.example',
      OIDC_CLIENT_ID: 'apps',
      OIDC_CLIENT_SECRET: 'hidden-3',
    }
    const { settings } = readConfig({ port: '5000' }, env)
    const names = new Set<string>()
    readConfig({}, new Proxy({}, { get: (_, name) => void names.add(String(name).replace(/_FILE$/, '')) }))
    expect(settings.map(({ name }) => name)).toEqual([...names].toSorted())
    expect(JSON.stringify(settings)).not.toContain('hidden')
    const told = (name: string) => Object.values(settings.find((one) => one.name === name) ?? {}).slice(1)
    expect(told('PORT')).toEqual(['5000', 'flag', '--port', '3000'])
    expect(told('SMTP_URL')).toEqual(['set', 'file', 'SMTP_URL_FILE', null])
    expect(told('DATABASE_URL')).toEqual(['set', 'environment', 'DATABASE_URL', 'file:./data/app-platform.db'])
    expect(told('OIDC_CLIENT_SECRET')).toEqual(['set', 'environment', 'OIDC_CLIENT_SECRET', null])
    expect(told('RATE_LIMIT_TOKEN')).toEqual(['7/60', 'environment', 'RATE_LIMIT_TOKEN', '600/60'])
    expect(told('RATE_LIMIT')).toEqual([null, 'default', null, 'on'])
    expect(told('BACKUP_KEEP')).toEqual([null, 'default', null, '14'])
    const sqlite = readConfig({}, { DATABASE_URL: 'file:/var/lib/x.db' }).settings
    expect(sqlite.find(({ name }) => name === 'DATABASE_URL')?.value).toBe('file:/var/lib/x.db')
  })

  test('that servers must share are told apart one by one, and all others may differ from machine to machine', () => {
    const own = [
      'HOST',
      'PORT',
      'DATABASE_URL',
      'TRUSTED_PROXIES',
      'LONGEST_WAIT_MS',
      'METRICS_LISTEN',
      'EXPECT_STANDBY',
      'BACKUP_DIRECTORY',
      'BACKUP_KEEP',
      'LOG_LEVEL',
      'OIDC_CLIENT_SECRET',
      'SMTP_URL',
      ...['DATABASE_URL', 'OIDC_CLIENT_SECRET', 'SMTP_URL'].map((name) => `${name}_FILE`),
    ]
    const names = new Set<string>()
    readConfig({}, new Proxy({}, { get: (_, name) => void names.add(String(name)) }))
    expect([...Object.keys(digests({})), ...own, 'LOG_REQUESTS'].toSorted()).toEqual([...names].toSorted())

    const values: Record<string, string> = {
      PUBLIC_URL: 'https://apps.example',
      PLATFORM_NAME: 'Other',
      BUILDER_NAME: 'Acme',
      BUILDER_URL: 'https://builder.example/home',
      APP_CREATION: 'operators',
      INSTALL_APPROVAL: 'automatic',
      WEBHOOK_ALLOWED_NETWORKS: '10.0.0.0/8',
      SIGN_IN: 'password,handover',
      SIGN_IN_URL: 'https://builder.example/sign-in',
      SIGN_OUT_URL: 'https://builder.example/',
      PASSWORD_FOR: 'operators',
      OIDC_ISSUER: 'https://other.example/',
      OIDC_CLIENT_ID: 'other',
      OIDC_CREATE_USERS: 'on',
      OIDC_LINK_BY_EMAIL: 'on',
      OIDC_CLIENT_AUTH: 'basic',
      OIDC_TRUST_EMAIL: 'on',
      OIDC_PROOF: 'prompt',
      REQUIRE_SECOND_FACTOR: 'everyone',
      STRONG_SIGN_IN: 'oidc',
      OIDC_STRONG_ACR: 'phr',
      MAIL_FROM: 'Others <others@example.com>',
    }
    const oidc = { SIGN_IN: 'oidc', OIDC_ISSUER: 'https://id.example/', OIDC_CLIENT_ID: 'x', OIDC_CLIENT_SECRET: 'y' }
    /** What another setting must be for this one to be valid. */
    const needs: Record<string, Readonly<Record<string, string>>> = {
      SIGN_IN: { SIGN_IN_URL: 'https://builder.example/sign-in' },
      BUILDER_NAME: { BUILDER_URL: 'https://builder.example/' },
      BUILDER_URL: { BUILDER_NAME: 'Acme', BUILDER_URL: 'https://other.example/' },
      OIDC_ISSUER: oidc,
      OIDC_CLIENT_ID: oidc,
      OIDC_CLIENT_AUTH: oidc,
      OIDC_TRUST_EMAIL: oidc,
      MAIL_FROM: { SMTP_URL: 'smtp://localhost', MAIL_FROM: 'apps@example.com' },
      PASSWORD_FOR: { SIGN_IN: 'handover', SIGN_IN_URL: 'https://builder.example/sign-in' },
    }
    for (const name of Object.keys(digests({})).filter((each) => each !== 'RATE_LIMIT')) {
      const before = needs[name] ?? {}
      const value = values[name] ?? (name.startsWith('RATE_LIMIT') ? '7/7' : '7')
      const changed = digests({ ...before, [name]: value })
      const differing = Object.entries(digests(before)).filter(([each, digest]) => changed[each] !== digest)
      expect(differing.map(([each]) => each)).toEqual([name])
    }
    expect(digests({ RATE_LIMIT: 'off' })['RATE_LIMIT']).not.toBe(digests({})['RATE_LIMIT'])
    expect(digests({ PORT: '4000', PUBLIC_URL: 'http://a.example' })).toEqual(
      digests({ PUBLIC_URL: 'http://a.example' }),
    )
  })

  test('an identity provider is asked over HTTPS, unless it runs on this machine', () => {
    for (const here of ['http://localhost:8080', 'http://127.0.0.1/realm', 'http://[::1]:8080', 'https://id.example']) {
      expect(readConfig({}, { OIDC_ISSUER: here }).port).toBeNumber()
    }
    for (const away of ['http://id.example', 'http://localhost.evil.example', 'http://10.0.0.1']) {
      expect(faultsOf({ OIDC_ISSUER: away }).map((fault) => fault.split(' ')[0])).toEqual(['OIDC_ISSUER'])
    }
  })

  test('an identity provider is one tenant: addresses that all tenants of Entra ID share are refused', () => {
    const own = '6f1f5f3e-0000-4000-8000-000000000001'
    for (const one of [
      `https://login.microsoftonline.com/${own}/v2.0`,
      'https://id.example/realms/common',
      'https://id.example/application/o/consumers/',
    ]) {
      expect(readConfig({}, { OIDC_ISSUER: one }).port).toBeNumber()
    }
    for (const shared of [
      'https://login.microsoftonline.com/common/v2.0',
      'https://login.microsoftonline.com/Common',
      'https://LOGIN.microsoftonline.com/organizations/v2.0/',
      'https://login.microsoftonline.com//consumers/v2.0',
      'https://login.microsoftonline.com/c%6fmmon/v2.0',
      'https://login.microsoftonline.us/organizations/v2.0',
      'https://login.partner.microsoftonline.cn/common/v2.0',
      'https://login.windows.net/common',
      'https://sts.windows.net/9188040d-6c67-4c5b-b112-36a304b66dad/',
      'https://login.microsoftonline.com/9188040D-6c67-4c5b-b112-36a304b66dad/v2.0',
      'https://login.microsoftonline.com/{tenantid}/v2.0',
      'https://id.example/%7Btenant%7D',
      'https://id.example/?tenant={tenant}',
    ]) {
      expect([shared, ...faultsOf({ OIDC_ISSUER: shared })]).toEqual([shared, expect.stringContaining('one tenant')])
    }
    expect(faultsOf({ OIDC_ISSUER: 'https://id.example/.well-known/openid-configuration' })).toEqual([
      expect.stringContaining('without /.well-known/'),
    ])
  })

  test('mail is sent with TLS, except to this machine or if it is turned off, and needs a sender', () => {
    const from = { name: null, address: 'apps@example.com' }
    expect(mailOf('smtp://a%40b:p%3Aw@mail.example')).toEqual({
      host: 'mail.example',
      port: 587,
      tls: 'starttls',
      login: { user: 'a@b', password: 'p:w' },
      from,
    })
    expect(mailOf('smtps://mail.example/')).toMatchObject({ port: 465, tls: 'implicit', login: null })
    expect(mailOf('smtp://bücher.example')).toMatchObject({ host: 'xn--bcher-kva.example', tls: 'starttls' })
    expect(mailOf('smtp://[::1]:25')).toMatchObject({ host: '::1', tls: 'none' })
    for (const url of [
      'smtp://localhost:25',
      'smtp://127.0.0.1:25',
      'smtp://[::1]:25',
      'smtp://mail.example:25?tls=off',
    ]) {
      expect(mailOf(url)).toMatchObject({ port: 25, tls: 'none' })
    }
    expect(mailOf('smtp://localhost', 'The "Apps" <APPS@example.com>')?.from).toEqual({ ...from, name: 'The "Apps"' })
    expect(readConfig({}, {}).mail).toBeNull()
    expect(faultsOf({ SMTP_URL: 'smtp://localhost' })).toEqual([expect.stringContaining('MAIL_FROM')])
    expect(faultsOf({ MAIL_FROM: 'apps@example.com' })).toEqual([expect.stringContaining('SMTP_URL')])
    const wrong = [
      'mail.example:25',
      'http://mail.example',
      'smtp://',
      'smtp://mail.example/x',
      'smtps://mail.example?tls=off',
    ]
    for (const url of [
      ...wrong,
      'smtp://a:canary%ff@mail.example',
      'smtp://a%0d%0a:b@mail.example',
      'smtp://mail.example:0',
    ]) {
      expect(faultsOf({ SMTP_URL: url, MAIL_FROM: 'apps@example.com' })[0]).toMatch(/^SMTP_URL must be (?!.*canary)/)
    }
    for (const sender of ['Apps', 'a@b, c@d', '<a@b> c']) {
      expect(faultsOf({ SMTP_URL: 'smtp://localhost', MAIL_FROM: sender })[0]).toMatch(/^MAIL_FROM must be/)
    }
    expect(readConfig({}, { SMTP_URL: 'smtp://localhost', MAIL_FROM: 'apps@example.com' }).warnings).toEqual([
      expect.stringContaining('PUBLIC_URL'),
    ])
  })

  test('a flag wins over the environment', () => {
    expect(readConfig({ port: '0' }, { PORT: '4000' }).port).toBe(0)
    expect(readConfig({}, { PORT: '4000' }).port).toBe(4000)
  })

  test('all faults are reported at once, each with the name of its setting and without its value', () => {
    const faults = faultsOf({
      PORT: 'canary',
      HOST: 'canary:80',
      DATABASE_URL: 'mysql://canary:canary@db/canary',
      PUBLIC_URL: 'https://canary:canary@example.com',
      TRUSTED_PROXIES: '10.0.0.0/8, canary',
      RATE_LIMIT: 'canary',
      RATE_LIMIT_TOKEN: 'canary',
      LONGEST_WAIT_MS: 'canary',
      LIFETIME_CODE: 'canary',
      INSTALL_APPROVAL: 'canary',
    })
    const names = [
      'HOST',
      'PUBLIC_URL',
      'PORT',
      'DATABASE_URL',
      'TRUSTED_PROXIES',
      'RATE_LIMIT_TOKEN',
      'RATE_LIMIT',
      'LONGEST_WAIT_MS',
      'LIFETIME_CODE',
      'INSTALL_APPROVAL',
    ]
    expect(faults.map((fault) => fault.split(' ')[0] ?? '').toSorted()).toEqual(names.toSorted())
    expect(faults.join('\n')).not.toContain('canary')
  })

  test('a fault in a flag names the flag', () => {
    expect(faultsOf({ PORT: '4000' }, { port: '70000' })).toEqual(['--port must be a whole number from 0 to 65535.'])
  })

  test('an empty setting is a fault, not a default', () => {
    const faults = faultsOf({ PORT: '', PUBLIC_URL: ' ', RATE_LIMIT: '' }, { host: '' })
    expect(faults.map((fault) => fault.replace(' is empty. Leave it out to use the default.', ''))).toEqual([
      'PUBLIC_URL',
      'PORT',
      '--host',
      'RATE_LIMIT',
    ])
  })

  test('no setting has a control character, of which some readers see the value before it and others the one without it', () => {
    const names = new Set<string>()
    readConfig({}, new Proxy({}, { get: (_, name) => void names.add(String(name)) }))
    const settings = [...names].filter((name) => !name.endsWith('_FILE'))
    expect(settings.length).toBeGreaterThan(50)
    for (const name of settings) {
      for (const value of [
        'on\n',
        '\u0000on',
        'https://a.example\r',
        '10\u001b[0m',
        'a\tb',
        'A\r\nBcc: b <a@b.example>',
      ]) {
        expect(faultsOf({ [name]: value }).join('\n')).toContain(`${name} has a line break, a tab or another control`)
      }
    }
  })

  test('a secret setting may be in a file, and what is wrong with it is said with its path and without its content', () => {
    const folder = temporaryFolder()
    const written = (text: string | Uint8Array): string => {
      const file = join(folder, crypto.randomUUID())
      writeFileSync(file, text)
      return file
    }
    const from = { MAIL_FROM: 'apps@example.com' }
    for (const end of ['', '\n', '\r\n']) {
      const env = { ...from, SMTP_URL_FILE: written(`smtps://apps:canary@mail.example${end}`) }
      expect(readConfig({}, env).mail?.login).toEqual({ user: 'apps', password: 'canary' })
    }
    const place = { DATABASE_URL_FILE: written('postgres://app:canary@localhost/apps\n') }
    expect(readConfig({}, place).database).toEqual({ kind: 'postgres', url: 'postgres://app:canary@localhost/apps' })
    expect(readConfig({ database: 'file:./other.db' }, place).database).toEqual({ kind: 'sqlite', path: './other.db' })
    const wrong: readonly (readonly [file: string, rule: RegExp])[] = [
      [join(folder, 'missing'), /^SMTP_URL_FILE \(\/\S+\/missing\) names a file that is not there\.$/],
      // A secret that was set under the wrong name.
      ['smtp://apps:canary@mail.example', /^SMTP_URL_FILE names a file that is not there\.$/],
      ['/canary', /^SMTP_URL_FILE names a file that is not there\.$/],
      ['/canary/in+base64', /^SMTP_URL_FILE names a file that is not there\.$/],
      [folder, /^SMTP_URL_FILE \S+ must name a text file/],
      [written('x'.repeat(65 * 1024)), /^SMTP_URL_FILE \S+ must name a text file/],
      [written(Buffer.from([0xff, 0xfe, 0x41])), /^SMTP_URL_FILE \S+ must name a text file/],
      [written('\n'), /^SMTP_URL_FILE \S+ is empty/],
      [written('http://canary'), /^SMTP_URL_FILE \S+ must be smtp:/],
      [written('smtp://localhost\nsmtp://canary'), /^SMTP_URL_FILE \S+ has a line break/],
      [written('smtp://localhost:25\0'), /^SMTP_URL_FILE \S+ has a line break/],
    ]
    for (const [file, rule] of wrong) {
      const [fault = '', ...others] = faultsOf({ ...from, SMTP_URL_FILE: file })
      expect(fault).toMatch(rule)
      expect([fault, ...others].join()).not.toContain('canary')
    }
    const both = { ...from, SMTP_URL: 'smtp://localhost', SMTP_URL_FILE: written('smtp://localhost') }
    expect(faultsOf(both)[0]).toBe('SMTP_URL and SMTP_URL_FILE are both set: leave one out.')
    expect(readConfig({}, { SMTP_URL_FIL: 'x' }).warnings).toEqual([expect.stringContaining('SMTP_URL_FILE')])
  })

  test('a wrong setting is named alone: what needs it is not blamed, too', () => {
    expect(faultsOf({ SMTP_URL: 'nonsense', MAIL_FROM: 'apps@example.com' })).toHaveLength(1)
    expect(faultsOf({ SMTP_URL: 'smtp://localhost', MAIL_FROM: 'nonsense' })).toHaveLength(1)
    const oidc = { SIGN_IN: 'oidc', OIDC_ISSUER: 'nonsense', OIDC_CLIENT_ID: 'a', OIDC_CLIENT_SECRET: 'b' }
    expect(faultsOf(oidc)).toHaveLength(1)
    expect(faultsOf({ SIGN_IN: 'handover', SIGN_IN_URL: 'nonsense' })).toHaveLength(1)
  })

  test('a command needs only the settings that it uses', () => {
    const ofServer = { SIGN_IN: 'oidc', OIDC_ISSUER: 'https://id.example', OIDC_CLIENT_ID: 'a' }
    const broken = {
      HOST: '?',
      METRICS_LISTEN: '?',
      RATE_LIMIT: '?',
      LOG_LEVEL: '?',
      TRUSTED_PROXIES: '?',
      SMTP_URL: '?',
    }
    const config = readCommandConfig({}, { ...ofServer, ...broken, MAIL_FROM: 'apps@example.com' })
    expect(config).toMatchObject({ sendsMails: true, issuer: 'https://id.example/' })
    expect(readCommandConfig({}, {}).sendsMails).toBe(false)
    expect(() => readCommandConfig({}, { PUBLIC_URL: '?' })).toThrow(ConfigError)
    expect(readDatabasePlace({}, { ...broken, PUBLIC_URL: '?', PORT: '?' }).kind).toBe('sqlite')
    expect(readMailConfig({ ...ofServer, PORT: '?' }).mail).toBeNull()
  })

  test('apps may be created by everyone or by operators, and none at all', () => {
    expect(readConfig({}, { APP_CREATION: 'operators' }).appCreation).toBe('operators')
    expect(readConfig({}, { QUOTA_APPS: '0' }).quotas.apps).toBe(0)
  })

  test.each(['manual', 'automatic'] as const)('new installs are decided on as %p says', (rule) => {
    expect(readConfig({}, { INSTALL_APPROVAL: rule }).installApproval).toBe(rule)
  })

  test.each([
    ['TRUSTED_PROXY', 'TRUSTED_PROXIES'],
    ['TRUSTED_PROXIE', 'TRUSTED_PROXIES'],
    ['PUBLIC_URI', 'PUBLIC_URL'],
    ['PUBLIC_ULR', 'PUBLIC_URL'],
    ['public_url', 'PUBLIC_URL'],
    ['DATABASE_URLS', 'DATABASE_URL'],
    ['RATE_LIMITS', 'RATE_LIMIT'],
    ['RATE_LIMIT_TOKENS', 'RATE_LIMIT_TOKEN'],
    ['LIFETIME_SESION', 'LIFETIME_SESSION'],
    ['QUOTA_APP', 'QUOTA_APPS'],
    ['METRICS_LISTEN_ON', 'METRICS_LISTEN'],
    ['LOG_LEVELS', 'LOG_LEVEL'],
  ])('%s is warned about as a misspelling of %s, and stops nothing', (name, meant) => {
    expect(readConfig({}, { [name]: 'canary' }).warnings).toEqual([
      `${name} is not a setting and has no effect. Did you mean ${meant}?`,
    ])
  })

  test('a variable with a prefix of ours that resembles no setting is warned about without a suggestion', () => {
    expect(readConfig({}, { RATE_LIMIT_REFRESHES: '1/1' }).warnings).toEqual([
      'RATE_LIMIT_REFRESHES is not a setting and has no effect. Is it misspelt?',
    ])
  })

  test('variables of other programs are not warned about', () => {
    const others = ['PATH', 'HOSTS', 'PORTS', 'POST', 'HOME', 'LOG_FORMAT', 'LOG_DIR', 'METRICS_PORT', 'WEBHOOK_URL']
    const more = ['HOSTNAME', 'PUBLIC_KEY', 'DATABASE_PATH', 'PLATFORM', 'PLATFORM_ID', 'QUOTAS', 'APP_PLATFORM_URL']
    const env = Object.fromEntries([...others, ...more].map((name) => [name, 'x']))
    expect(readConfig({}, env).warnings).toEqual([])
  })

  test.each(['-1', '65536', '3000.0', '0x10', '1e3', ' 80', '٣'])('the port %p is refused', (port) => {
    expect(faultsOf({ PORT: port })).toHaveLength(1)
  })

  test.each([
    ['file:./data/a.db', './data/a.db'],
    ['file:a.db', 'a.db'],
    ['file:/srv/a.db', '/srv/a.db'],
    ['file:///srv/a%20b.db', '/srv/a b.db'],
    ['/srv/a.db', '/srv/a.db'],
  ])('the database %p is the file %p', (url, path) => {
    expect(readConfig({}, { DATABASE_URL: url }).database).toEqual({ kind: 'sqlite', path })
    expect(readConfig({ database: url }, {}).database).toEqual({ kind: 'sqlite', path })
  })

  test.each([
    'postgres://u:p@localhost/d',
    'postgres://u:p@LOCALHOST/d',
    'postgres://u:p@localhost.:5433/d',
    'postgres://u:p@127.1/d',
    'postgres://u:p@[0:0:0:0:0:0:0:1]/d',
    'postgresql://u@a,b:5433/d?sslmode=verify-full',
  ])('the database %p is one of PostgreSQL', (url) => {
    expect(readConfig({}, { DATABASE_URL: url }).database).toEqual({ kind: 'postgres', url })
  })

  test.each([
    ['postgres:///canary', 'must name user, host and database'],
    ['postgres://u:canary@h/d', 'names another machine without sslmode=verify-full'],
    ['postgres://u:canary@localhost.example/d', 'names another machine without sslmode=verify-full'],
    ['postgres://u:canary@localhost/d ', 'begins or ends with a space'],
    [' postgres://u:canary@localhost/d', 'begins or ends with a space'],
    ['postgres://u:canary@localhost:0/d', 'has a port that does not exist'],
    ['postgres://u:%zz@localhost/canary', 'has a percent sign that begins no escape'],
    ['file:~/canary.db', 'has a ~ or a variable'],
    ['~/canary.db', 'has a ~ or a variable'],
    ['~ada/canary.db', 'has a ~ or a variable'],
    ['file:$HOME/canary.db', 'has a ~ or a variable'],
    ['file:///srv/${NAME}/canary.db', 'has a ~ or a variable'],
    ['file:%24HOME/canary.db', 'has a ~ or a variable'],
  ])('the database %p %s, and nothing of it is repeated', (url, rule) => {
    const [fault, ...more] = faultsOf({ DATABASE_URL: url })
    expect([fault, more]).toEqual([expect.stringContaining(`DATABASE_URL ${rule}`), []])
    expect(fault).not.toContain('canary')
    expect(() => readConfig({ database: url }, {})).toThrow(`--database ${rule}`)
  })

  test.each([
    'file:',
    'file://host/a.db',
    'file:a.db?mode=ro',
    'file:a.db#x',
    ':memory:',
    'data/',
    'file:%ff',
    'mysql://h/d',
    'sqlite:a.db',
    'file:a.db ',
    ' file:a.db',
    'a.db\n',
    '"file:a.db"',
    "'a.db'",
  ])('the database %p is refused', (url) => {
    expect(faultsOf({ DATABASE_URL: url })).toHaveLength(1)
    expect(() => readConfig({ database: url }, {})).toThrow(ConfigError)
  })

  test.each([
    ['https://apps.example.com', 'https://apps.example.com'],
    ['https://apps.example.com/', 'https://apps.example.com'],
    ['HTTPS://Apps.Example.com:443', 'https://apps.example.com'],
    ['http://localhost:3000', 'http://localhost:3000'],
  ])('the public URL %p is the origin %p', (url, origin) => {
    expect(readConfig({}, { PUBLIC_URL: url }).publicUrl).toBe(origin)
  })

  test.each([
    'apps.example.com',
    'ftp://a.b',
    'https://a.b/c',
    'https://a.b?c',
    'https://a.b#c',
    'https://u@a.b',
    'https://a b',
    'https://',
    'https://a{b}.example',
    'https://apps.example.com;x',
    'https://*.example.com',
    "https://a'b.example",
    'https://a,b.example',
  ])('the public URL %p is refused', (url) => {
    expect(faultsOf({ PUBLIC_URL: url })).toHaveLength(1)
  })

  test.each(['https://apps.example.com:0', 'http://localhost:00'])('the public URL cannot have port 0: %p', (url) => {
    expect(faultsOf({ PUBLIC_URL: url })).toEqual([expect.stringMatching(/^PUBLIC_URL .* port 0/)])
  })

  test('plain HTTP is warned about unless it stays on this machine', () => {
    expect(readConfig({}, { PUBLIC_URL: 'http://apps.example.com' }).warnings).toHaveLength(1)
    for (const url of ['http://localhost', 'http://127.0.0.1:80', 'http://[::1]']) {
      expect(readConfig({}, { PUBLIC_URL: url }).warnings).toEqual([])
    }
  })

  test('an https URL is warned about when no proxy is trusted that could end TLS', () => {
    const env = { PUBLIC_URL: 'https://apps.example.com' }
    expect(readConfig({}, env).warnings).toEqual([expect.stringContaining('TRUSTED_PROXIES is not set')])
    expect(readConfig({}, { ...env, TRUSTED_PROXIES: '127.0.0.1' }).warnings).toEqual([])
  })

  test.each(['0.0.0.0/0', '::/0', '127.0.0.1,0.0.0.0/0', '::ffff:0.0.0.0/96'])(
    'trusting every address as a proxy, as %p does, is warned about',
    (networks) => {
      expect(readConfig({}, { TRUSTED_PROXIES: networks }).warnings).toEqual([
        expect.stringContaining('TRUSTED_PROXIES trusts every address'),
      ])
      expect(readConfig({}, { TRUSTED_PROXIES: '10.0.0.0/8,fd00::/8' }).warnings).toEqual([])
    },
  )

  test.each(['0.0.0.0', '::', '192.0.2.1', 'apps.internal'])(
    'the open host %p is warned about when no public URL is set',
    (host) => {
      expect(readConfig({ host }, {}).warnings).toEqual([expect.stringContaining('PUBLIC_URL is not set')])
      expect(readConfig({ host }, { PUBLIC_URL: 'http://localhost:3000' }).warnings).toEqual([])
      for (const loopback of ['127.0.0.1', '127.9.9.9', '::1', 'localhost']) {
        expect(readConfig({ host: loopback }, {}).warnings).toEqual([])
      }
    },
  )

  test('a limit is count/seconds, and the others keep theirs', () => {
    const { rateLimits } = readConfig({}, { RATE_LIMIT_SIGN_IN: '3/60' })
    expect(rateLimits).toEqual({ ...defaultRateLimits, sign_in: { count: 3, seconds: 60 } })
  })

  test.each(['3', '3/', '/60', '0/60', '3/0', '3/60/1', '-3/60', '3.5/60', '3/60s', '9999999/60'])(
    'the limit %p is refused',
    (limit) => {
      expect(faultsOf({ RATE_LIMIT_READ: limit })).toHaveLength(1)
    },
  )

  test('limits can be off, and are then still checked', () => {
    expect(readConfig({}, { RATE_LIMIT: 'off' }).rateLimits).toBeNull()
    expect(faultsOf({ RATE_LIMIT: 'off', RATE_LIMIT_READ: 'x' })).toHaveLength(1)
  })

  test('a lifetime may be shortened, never lengthened', () => {
    expect(readConfig({}, { LIFETIME_CODE: '1' }).lifetimes).toEqual({ ...defaultLifetimes, code: 1 })
    expect(readConfig({}, { LIFETIME_CODE: '300' }).lifetimes.code).toBe(300)
    for (const seconds of ['0', '301', '-1', '1.5']) expect(faultsOf({ LIFETIME_CODE: seconds })).toHaveLength(1)
  })

  test('quotas, retention, the name, metrics and the log are settings', () => {
    const config = readConfig(
      {},
      {
        QUOTA_ARTIFACT_BYTES: '5000000000',
        QUOTA_VERSIONS: '9',
        QUOTA_APPS: '3',
        AUDIT_RETENTION_DAYS: '90',
        AUDIT_RETENTION_ANONYMOUS_DAYS: '7',
        PLATFORM_NAME: 'Acme Apps',
        METRICS_LISTEN: '[::1]:9090',
        LOG_LEVEL: 'warn',
        LOG_REQUESTS: 'errors',
      },
    )
    expect(config).toMatchObject({
      quotas: { artifactBytes: 5_000_000_000, versions: 9, apps: 3 },
      auditRetention: { days: 90, anonymousDays: 7 },
      platformName: 'Acme Apps',
      metricsListen: { host: '::1', port: 9090 },
      logLevel: 'warn',
      logRequests: 'errors',
    })
  })

  test.each([
    ['QUOTA_APPS', '-1'],
    ['APP_CREATION', 'nobody'],
    ['QUOTA_VERSIONS', '0'],
    ['QUOTA_ARTIFACT_BYTES', '1e9'],
    ['AUDIT_RETENTION_DAYS', '-1'],
    ['AUDIT_RETENTION_ANONYMOUS_DAYS', 'never'],
    ['PLATFORM_NAME', 'a\u202eb'],
    ['BUILDER_NAME', 'Acme'],
    ['BUILDER_URL', 'javascript:alert(1)'],
    ['METRICS_LISTEN', '9090'],
    ['METRICS_LISTEN', 'localhost:9090'],
    ['EXPECT_STANDBY', 'yes'],
    ['LOG_LEVEL', 'trace'],
    ['LOG_REQUESTS', 'some'],
  ])('%s=%p is refused', (name, value) => {
    expect(faultsOf({ [name]: value })).toEqual([expect.stringContaining(name)])
  })

  test('metrics have another port than the server, unless both take a free one', () => {
    expect(faultsOf({ PORT: '9090', METRICS_LISTEN: '127.0.0.1:9090' })).toEqual([
      'METRICS_LISTEN must name another port than PORT.',
    ])
    expect(faultsOf({ PORT: '0', METRICS_LISTEN: '127.0.0.1:0' })).toEqual([])
  })

  test('proxies are addresses and networks of both families', () => {
    const { trustedProxies } = readConfig({}, { TRUSTED_PROXIES: '10.0.0.0/8, ::1,192.0.2.1 , fd00::/8' })
    expect(trustedProxies.map(({ prefix }) => prefix)).toEqual([104, 128, 128, 8])
  })

  test('webhooks may call private networks only if they are named, and a malformed network is a fault', () => {
    expect(readConfig({}, {}).webhookNetworks).toEqual([])
    const { webhookNetworks } = readConfig({}, { WEBHOOK_ALLOWED_NETWORKS: '10.0.0.0/8,fd00::/8' })
    expect(webhookNetworks.map(({ prefix }) => prefix)).toEqual([104, 8])
    for (const text of ['all', '10.0.0.0/33', '10.0.0.0/8;fd00::/8']) {
      expect(faultsOf({ WEBHOOK_ALLOWED_NETWORKS: text })).toEqual([
        expect.stringContaining('WEBHOOK_ALLOWED_NETWORKS'),
      ])
    }
  })
})

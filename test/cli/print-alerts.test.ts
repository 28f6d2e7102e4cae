import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { needs, programAt } from '../support/needs.ts'
import { type RunningServer, startServer } from '../support/running-server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { runHere } from './support/run.ts'

type Rule = { alert: string; expr: string; labels: { severity: string }; annotations: { summary: string } }

let server: RunningServer
let printed: string
let rules: readonly Rule[]
beforeAll(async () => {
  server = await startServer()
  const { exitCode, stdout, stderr } = await runHere(['print', 'alerts'])
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  printed = stdout
  const file: unknown = Bun.YAML.parse(stdout)
  expect(file).toMatchObject({ groups: [{ name: 'app-platform' }] })
  rules = Object(file).groups[0].rules
})
afterAll(async () => void (await server.stop()))

test('every alert has a unique name, a severity and a sentence', () => {
  expect(rules.length).toBeGreaterThan(10)
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length)
  for (const { alert, labels, annotations } of rules) {
    expect(alert).toMatch(/^AppPlatform[A-Z]\w+$/)
    expect(['critical', 'warning']).toContain(labels.severity)
    expect(annotations.summary).toMatch(/^[A-Z1].+\.$/)
  }
})

test('the alerts use metrics that the server has, whatever its scrape job is called', async () => {
  const text = await (await fetch(`${server.url}/metrics`)).text()
  const typed = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].flatMap(([, name = '', type]) =>
    type === 'histogram' ? [`${name}_bucket`] : [name],
  )
  const metrics = new Set(typed)
  for (const { expr } of rules) {
    const selected = [...expr.matchAll(/\bapp_platform_\w+/g)].map(([name]) => name)
    expect(selected.length).toBeGreaterThan(0)
    for (const name of selected) expect([expr, name, metrics.has(name)]).toEqual([expr, name, true])
    expect(expr).not.toMatch(/\bjob\b/)
  }
})

const targetWith = async (env: Readonly<Record<string, string>>, ...words: readonly string[]) => {
  const { exitCode, stdout, stderr } = await runHere(['print', 'alerts', ...words], { env })
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  return /targets: \['([^']*)'\]/.exec(stdout)?.[1]
}

test('the scrape configuration names the address of the metrics, and no other setting has to be right', async () => {
  expect(await targetWith({})).toBe('127.0.0.1:3000')
  expect(await targetWith({ METRICS_LISTEN: '10.0.0.5:9464' })).toBe('10.0.0.5:9464')
  expect(await targetWith({ METRICS_LISTEN: '0.0.0.0:9464', HOST: '10.0.0.5' })).toBe('127.0.0.1:9464')
  expect(await targetWith({ HOST: '::', PORT: '8080' }, '--port', '8443')).toBe('[::1]:8443')
  expect(await targetWith({ OIDC_CLIENT_ID: 'alone', SMTP_URL: '?', DATABASE_URL: '', PUBLIC_URL: 'x' })).toBe(
    '127.0.0.1:3000',
  )
  const { exitCode, stderr } = await runHere(['print', 'alerts'], { env: { METRICS_LISTEN: '9464' } })
  expect([exitCode, stderr]).toEqual([2, expect.stringMatching(/^error: METRICS_LISTEN [^\n]+\n$/)])
})

needs('promtool').test('Prometheus accepts the alerts', async () => {
  const file = join(temporaryFolder(), 'alerts.yml')
  await Bun.write(file, printed)
  expect(Bun.spawnSync([programAt('promtool'), 'check', 'rules', '--lint=all', '--lint-fatal', file]).exitCode).toBe(0)
})

/** Series by name and labels, as promtool writes values: one a minute. */
type Series = Readonly<Record<string, string>>
type Case = {
  readonly fires: Series
  /** Minutes after which the alert must fire. */
  readonly at: number
  /** What must not fire in the same time. */
  readonly rests: Series
}

const i = 'job="builder",instance="a:9464"'
const named = (name: string, labels = '') => `app_platform_${name}{${i}${labels === '' ? '' : `,${labels}`}}`
const answered = (route: string, status: number) =>
  named('http_requests_total', `method="GET",route="${route}",status="${status}"`)
const slow = (route: string, le: string) =>
  named('http_request_duration_seconds_bucket', `method="GET",route="${route}",status="200",le="${le}"`)
const latency = (name: string, le: string) => named(`${name}_bucket`, `le="${le}"`)
const build = named('build_info', 'version="1.0.0"')
/** A proxy asks every second. */
const proxy = { [answered('/readyz', 200)]: '0+60x600', [answered('/healthz', 200)]: '0+60x600' }
const quickProxy = { [slow('/readyz', '0.5')]: '0+60x600', [slow('/readyz', '+Inf')]: '0+60x600' }
const condition = (name: string) => named('condition', `name="${name}"`)

const cases: Readonly<Record<string, Case>> = {
  AppPlatformDown: {
    fires: { [`up{${i}}`]: '1x4 0x20', [build]: '1x4 _x20' },
    at: 8,
    rests: { [`up{${i}}`]: '1x30', [build]: '1x30', 'up{job="other",instance="b:1"}': '0x30' },
  },
  AppPlatformCondition: {
    fires: { [condition('disk_full')]: '0x4 1x20' },
    at: 8,
    rests: { [condition('disk_full')]: '0x30', [condition('mail_fails')]: '1x30' },
  },
  AppPlatformWarning: {
    fires: { [condition('mail_fails')]: '1x30' },
    at: 12,
    rests: { [condition('mail_fails')]: '1x5 0x30', [condition('disk_full')]: '1x30' },
  },
  AppPlatformNotWritable: {
    fires: { [named('database_writable')]: '0x20' },
    at: 5,
    rests: { [named('database_writable')]: '1x20' },
  },
  AppPlatformBackupOld: {
    fires: { [named('backup_age_seconds')]: '129601+60x60' },
    at: 30,
    // PostgreSQL without a dump by this program has no sample.
    rests: { [named('nodes')]: '1x60', [build]: '1x60', [`up{${i}}`]: '1x60' },
  },
  AppPlatformNoBackup: {
    fires: { [build]: '1x2400' },
    at: 36 * 60 + 10,
    rests: { [build]: '1x2400', [named('nodes')]: '1x2400' },
  },
  AppPlatformDiskFilling: {
    fires: { [named('database_free_disk_bytes')]: '1000000000x60' },
    at: 30,
    rests: { [named('database_free_disk_bytes')]: '5000000000x60' },
  },
  AppPlatformErrors: {
    fires: { ...proxy, [answered('/me', 500)]: '0+3x60', [answered('/me', 200)]: '0x60' },
    at: 30,
    rests: { ...proxy, [answered('/readyz', 503)]: '0+60x60', [answered('/me', 200)]: '0+3x60' },
  },
  AppPlatformSlow: {
    fires: {
      ...quickProxy,
      [slow('/me', '1')]: '0x60',
      [slow('/me', '2.5')]: '0+3x60',
      [slow('/me', '+Inf')]: '0+3x60',
    },
    at: 30,
    rests: {
      [slow('/readyz', '1')]: '0x60',
      [slow('/readyz', '+Inf')]: '0+60x60',
      [slow('/me', '1')]: '0+3x60',
      [slow('/me', '+Inf')]: '0+3x60',
    },
  },
  AppPlatformSyncSlow: {
    fires: {
      [latency('database_sync_duration_seconds', '0.25')]: '0x60',
      [latency('database_sync_duration_seconds', '0.5')]: '0+9x60',
      [latency('database_sync_duration_seconds', '+Inf')]: '0+9x60',
    },
    at: 30,
    rests: {
      [latency('database_sync_duration_seconds', '0.25')]: '0+9x60',
      [latency('database_sync_duration_seconds', '+Inf')]: '0+9x60',
    },
  },
  AppPlatformEventLoopLate: {
    fires: {
      [latency('event_loop_lag_seconds', '0.25')]: '0x60',
      [latency('event_loop_lag_seconds', '0.5')]: '0+9x60',
      [latency('event_loop_lag_seconds', '+Inf')]: '0+9x60',
    },
    at: 30,
    rests: {
      [latency('event_loop_lag_seconds', '0.25')]: '0+9x60',
      [latency('event_loop_lag_seconds', '+Inf')]: '0+9x60',
    },
  },
  AppPlatformCheckpointsFail: {
    fires: { [named('database_checkpoint_failures_total')]: '0+1x90', [named('database_wal_bytes')]: '4096x90' },
    at: 60,
    rests: { [named('database_checkpoint_failures_total')]: '3x90', [named('database_wal_bytes')]: '4096x90' },
  },
  AppPlatformDescriptorsShort: {
    fires: { [named('process_open_fds')]: '900x30', [named('process_max_fds')]: '1024x30' },
    at: 10,
    rests: { [named('process_open_fds')]: '90x30', [named('process_max_fds')]: '1024x30' },
  },
  AppPlatformJobBehind: {
    fires: { [named('job_last_success_timestamp_seconds', 'task="purge"')]: '0x300' },
    at: 200,
    rests: { [named('job_last_success_timestamp_seconds', 'task="purge"')]: '0+60x300' },
  },
  AppPlatformPurgeBehind: {
    fires: { [named('purge_lag_seconds')]: '3700x60' },
    at: 40,
    rests: { [named('purge_lag_seconds')]: '60x60' },
  },
  AppPlatformWebhooksBehind: {
    fires: { [named('webhook_deliveries_due')]: '2000x60' },
    at: 40,
    rests: { [named('webhook_deliveries_due')]: '20x60' },
  },
  AppPlatformWebhooksFail: {
    fires: {
      [named('webhook_attempts_total', 'outcome="refused"')]: '0+1x60',
      [named('webhook_attempts_total', 'outcome="delivered"')]: '0x60',
    },
    at: 45,
    rests: {
      [named('webhook_attempts_total', 'outcome="unanswered"')]: '0+1x60',
      [named('webhook_attempts_total', 'outcome="delivered"')]: '0+50x60',
      [named('webhook_endpoints_disabled', 'reason="by_hand"')]: '0x20 1x60',
    },
  },
  AppPlatformMailsGivenUp: {
    fires: { [named('mails_given_up_total', 'kind="recipient"')]: '0x5 1x60' },
    at: 20,
    rests: { [named('mails_given_up_total', 'kind="recipient"')]: '7x60' },
  },
  AppPlatformSignInsFail: {
    fires: { [named('tokens_refused_total', 'kind="sign_in"')]: '0+10x30' },
    at: 20,
    rests: {
      [named('tokens_refused_total', 'kind="sign_in"')]: '0+1x30',
      [named('tokens_refused_total', 'kind="session"')]: '0+100x30',
    },
  },
  AppPlatformSecretsReused: {
    fires: { [named('tokens_reused_total', 'kind="refresh_token"')]: '0+1x60' },
    at: 40,
    rests: { [named('tokens_reused_total', 'kind="refresh_token"')]: '0+1x5 5x60' },
  },
  AppPlatformRestarts: {
    fires: { [named('process_uptime_seconds')]: '600 1 600 1 600 1 600 1 600' },
    at: 8,
    rests: { [named('process_uptime_seconds')]: '600 1 600 660 720 780 840 900 960' },
  },
  AppPlatformUncleanStart: {
    fires: { [named('unclean_start')]: '1x30', [named('process_uptime_seconds')]: '1+60x30' },
    at: 5,
    rests: { [named('unclean_start')]: '0x30', [named('process_uptime_seconds')]: '1+60x30' },
  },
}

test('every alert has a case', () => {
  expect(Object.keys(cases).toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted())
})

needs('promtool').test.each(Object.keys(cases))('%s fires when it should, and only then', async (alert) => {
  const { fires, at, rests } = cases[alert] ?? { fires: {}, at: 0, rests: {} }
  const folder = temporaryFolder()
  const only = rules.filter((rule) => rule.alert === alert)
  // One value, whatever labels the expression keeps.
  const counting = { alert: 'Fired', expr: `count(ALERTS{alertname="${alert}",alertstate="firing"}) > 0` }
  await Bun.write(
    join(folder, 'rules.json'),
    JSON.stringify({ groups: [{ name: 'one', interval: '1m', rules: [...only, counting] }] }),
  )
  const part = (series: Series, isFiring: boolean) => ({
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    alert_rule_test: [{ eval_time: `${at}m`, alertname: 'Fired', exp_alerts: isFiring ? [{ exp_labels: {} }] : [] }],
  })
  const file = join(folder, 'tests.json')
  await Bun.write(
    file,
    JSON.stringify({
      rule_files: ['rules.json'],
      evaluation_interval: '1m',
      tests: [part(fires, true), part(rests, false)],
    }),
  )
  const { exitCode, stdout, stderr } = Bun.spawnSync([programAt('promtool'), 'test', 'rules', file], { cwd: folder })
  expect({ exitCode, said: exitCode === 0 ? '' : stdout.toString() + stderr.toString() }).toEqual({
    exitCode: 0,
    said: '',
  })
})

import { describe, expect, test } from 'bun:test'
import { mailFaults } from '../../src/domain/mail.ts'
import { attemptOutcomes } from '../../src/domain/webhook-delivery.ts'
import { createMetrics, type Figures, type Metrics, tokenKinds } from '../../src/runtime/metrics.ts'
import { idleFigures } from '../support/figures.ts'

const rendered = async (metrics: Metrics, figures: Partial<Figures> = {}) =>
  await metrics.render({ ...idleFigures, ...figures })
const sample = (text: string, start: string): string | undefined =>
  text
    .split('\n')
    .find((line) => line.startsWith(start))
    ?.slice(start.length + 1)

describe('metrics', () => {
  test('count answers and their time by method, route pattern and status', async () => {
    const metrics = createMetrics()
    const me = metrics.route('GET', '/me')
    me.answered(200, 0.4)
    me.answered(200, 3)
    me.answered(200, 60_000)
    me.answered(401, 1)
    metrics.route('POST', '/me').answered(200, 1)
    const text = await rendered(metrics)
    const labels = 'method="GET",route="/me",status="200"'
    expect(sample(text, `app_platform_http_requests_total{${labels}}`)).toBe('3')
    expect(sample(text, 'app_platform_http_requests_total{method="GET",route="/me",status="401"}')).toBe('1')
    expect(sample(text, 'app_platform_http_requests_total{method="POST",route="/me",status="200"}')).toBe('1')
    expect(sample(text, `app_platform_http_request_duration_seconds_bucket{${labels},le="0.0005"}`)).toBe('1')
    expect(sample(text, `app_platform_http_request_duration_seconds_bucket{${labels},le="0.005"}`)).toBe('2')
    expect(sample(text, `app_platform_http_request_duration_seconds_bucket{${labels},le="10"}`)).toBe('2')
    expect(sample(text, `app_platform_http_request_duration_seconds_bucket{${labels},le="+Inf"}`)).toBe('3')
    expect(sample(text, `app_platform_http_request_duration_seconds_count{${labels}}`)).toBe('3')
    expect(Number(sample(text, `app_platform_http_request_duration_seconds_sum{${labels}}`))).toBeCloseTo(60.0034)
  })

  test('count the events of secrets by kind, from 0 for every kind', async () => {
    const metrics = createMetrics()
    metrics.tokens.issued('app_token')
    metrics.tokens.issued('app_token')
    metrics.tokens.refused('session')
    metrics.tokens.reused('refresh_token')
    const text = await rendered(metrics)
    expect(sample(text, 'app_platform_tokens_issued_total{kind="app_token"}')).toBe('2')
    expect(sample(text, 'app_platform_tokens_refused_total{kind="session"}')).toBe('1')
    expect(sample(text, 'app_platform_tokens_reused_total{kind="refresh_token"}')).toBe('1')
    expect(text.match(/^app_platform_tokens_refused_total\{/gm)).toHaveLength(tokenKinds.length)
    expect(sample(text, 'app_platform_tokens_refused_total{kind="service_key"}')).toBe('0')
  })

  test('show the difference of the clocks, and the age of the last backup if there is one', async () => {
    const metrics = createMetrics()
    const before = await rendered(metrics, { clockOffsetSeconds: 61.5, backupAgeSeconds: null })
    expect(sample(before, 'app_platform_clock_offset_seconds')).toBe('61.5')
    expect(sample(before, 'app_platform_backup_age_seconds')).toBeUndefined()
    expect(sample(await rendered(metrics, { backupAgeSeconds: 90 }), 'app_platform_backup_age_seconds')).toBe('90')
  })

  test('show the figures of the store at the time of the scrape', async () => {
    const metrics = createMetrics()
    await rendered(metrics, { transactions: 10, commits: 4 })
    const text = await rendered(metrics, { transactions: 25, commits: 4, walBytes: 0, writable: false })
    expect(sample(text, 'app_platform_database_transactions_total')).toBe('25')
    expect(sample(text, 'app_platform_database_commits_total')).toBe('4')
    expect(sample(text, 'app_platform_database_bytes')).toBe('8192')
    expect(sample(text, 'app_platform_database_wal_bytes')).toBe('0')
    expect(sample(text, 'app_platform_database_writable')).toBe('0')
  })

  test('have every counter of the program with 0 for each value of its label before anything was counted', async () => {
    const metrics = createMetrics({ purgedKinds: ['app_tokens', 'mails'] })
    metrics.route('GET', '/me')
    const text = await rendered(metrics)
    const valuesOf = (name: string) =>
      [...text.matchAll(new RegExp(`^app_platform_${name}\\{\\w+="(\\w+)"\\} 0$`, 'gm'))].map(([, value = '']) => value)
    for (const name of ['tokens_issued_total', 'tokens_refused_total', 'tokens_reused_total'])
      expect(valuesOf(name)).toEqual([...tokenKinds])
    expect(valuesOf('mails_given_up_total')).toEqual([...mailFaults])
    expect(valuesOf('webhook_attempts_total')).toEqual([...attemptOutcomes])
    expect(valuesOf('purged_rows_total')).toEqual(['app_tokens', 'mails'])
    const labels = 'method="GET",route="/me",status="500"'
    expect(sample(text, `app_platform_http_requests_total{${labels}}`)).toBe('0')
    metrics.route('GET', '/me').answered(500, 1)
    const failed = await rendered(metrics)
    expect(failed.split(`app_platform_http_requests_total{${labels}}`)).toHaveLength(2)
    expect(sample(failed, `app_platform_http_requests_total{${labels}}`)).toBe('1')
    // Other programs use the same names, and `job` is the label of the scrape.
    expect(text.split('\n').filter((line) => !/^(# (HELP|TYPE) )?app_platform_[a-z_]+[ {]|^$/.test(line))).toEqual([])
    expect(text).not.toMatch(/[{,]job="/)
  })

  test('show what the purge deleted and its lag', async () => {
    const metrics = createMetrics()
    metrics.purged('app_tokens', 500)
    metrics.purged('app_tokens', 20)
    const text = await rendered(metrics, { purgeLagSeconds: 90 })
    expect(sample(text, 'app_platform_purged_rows_total{kind="app_tokens"}')).toBe('520')
    expect(sample(text, 'app_platform_purge_lag_seconds')).toBe('90')
  })

  test('show the duration of syncs and the lag of the event loop as histograms', async () => {
    const metrics = createMetrics()
    metrics.synced(0.2)
    metrics.synced(700)
    metrics.late(30)
    const text = await rendered(metrics)
    expect(sample(text, 'app_platform_database_sync_duration_seconds_bucket{le="0.00025"}')).toBe('1')
    expect(sample(text, 'app_platform_database_sync_duration_seconds_bucket{le="1"}')).toBe('2')
    expect(sample(text, 'app_platform_database_sync_duration_seconds_count')).toBe('2')
    expect(sample(text, 'app_platform_event_loop_lag_seconds_bucket{le="0.025"}')).toBe('0')
    expect(sample(text, 'app_platform_event_loop_lag_seconds_bucket{le="0.05"}')).toBe('1')
  })

  test('leave out unknown figures', async () => {
    const unknown = { freeDiskBytes: null, purgeLagSeconds: null, dueDeliveries: null }
    const metrics = createMetrics()
    await rendered(metrics)
    const text = await rendered(metrics, unknown)
    expect(sample(text, 'app_platform_database_free_disk_bytes')).toBeUndefined()
    expect(sample(text, 'app_platform_purge_lag_seconds')).toBeUndefined()
    expect(sample(text, 'app_platform_webhook_deliveries_due')).toBeUndefined()
  })

  test('show disabled endpoints by reason, conditions by name, and the running version', async () => {
    const text = await rendered(createMetrics(), {
      disabledEndpoints: { gone: 2, failing: 0 },
      conditions: { disk_full: true, storage_failed: false },
    })
    expect(sample(text, 'app_platform_webhook_endpoints_disabled{reason="gone"}')).toBe('2')
    expect(sample(text, 'app_platform_condition{name="disk_full"}')).toBe('1')
    expect(sample(text, 'app_platform_condition{name="storage_failed"}')).toBe('0')
    expect(text).toMatch(/^app_platform_build_info\{version="[^"]+",commit="[^"]+",bun="[^"]+",sqlite="3\.0\.0"\} 1$/m)
  })

  test('are text that Prometheus can read', async () => {
    const metrics = createMetrics()
    metrics.route('GET', '/a"b\\c\nd').answered(200, 1)
    const text = await rendered(metrics)
    const line =
      /^(?:# (?:HELP|TYPE) [a-z_]+ .+|[a-z_]+(?:\{(?:[a-z]+="(?:[^"\\\n]|\\["\\n])*",?)+\})? (?:\d|NaN|\+Inf).*)?$/
    expect(text.split('\n').filter((each) => !line.test(each))).toEqual([])
    expect(text).toContain(String.raw`route="/a\"b\\c\nd"`)
    expect(metrics.contentType).toStartWith('text/plain')
  })
})

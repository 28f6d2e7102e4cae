import { describe, expect, test } from 'bun:test'
import { createMetrics } from '../../src/runtime/metrics.ts'

const made = () => {
  const figures = { transactions: 10, commits: 4, databaseBytes: 8_192, walBytes: 4_096, writable: true }
  return { figures, metrics: createMetrics(() => figures) }
}
const sample = (text: string, start: string): string | undefined =>
  text
    .split('\n')
    .find((line) => line.startsWith(start))
    ?.slice(start.length + 1)

describe('metrics', () => {
  test('count answers and their time by method, route pattern and status', async () => {
    const { metrics } = made()
    const me = metrics.route('GET', '/me')
    me.answered(200, 0.4)
    me.answered(200, 3)
    me.answered(200, 60_000)
    me.answered(401, 1)
    metrics.route('POST', '/me').answered(200, 1)
    const text = await metrics.render()
    const labels = 'method="GET",route="/me",status="200"'
    expect(sample(text, `http_requests_total{${labels}}`)).toBe('3')
    expect(sample(text, 'http_requests_total{method="GET",route="/me",status="401"}')).toBe('1')
    expect(sample(text, 'http_requests_total{method="POST",route="/me",status="200"}')).toBe('1')
    expect(sample(text, `http_request_duration_seconds_bucket{${labels},le="0.0005"}`)).toBe('1')
    expect(sample(text, `http_request_duration_seconds_bucket{${labels},le="0.005"}`)).toBe('2')
    expect(sample(text, `http_request_duration_seconds_bucket{${labels},le="10"}`)).toBe('2')
    expect(sample(text, `http_request_duration_seconds_bucket{${labels},le="+Inf"}`)).toBe('3')
    expect(sample(text, `http_request_duration_seconds_count{${labels}}`)).toBe('3')
    expect(Number(sample(text, `http_request_duration_seconds_sum{${labels}}`))).toBeCloseTo(60.0034)
  })

  test('count what happens to secrets by kind, and no kind without end', async () => {
    const { metrics } = made()
    metrics.tokens.issued('app_token')
    metrics.tokens.issued('app_token')
    metrics.tokens.refused('session')
    metrics.tokens.reused('refresh_token')
    for (let kind = 0; kind < 100; kind += 1) metrics.tokens.refused(`kind_${kind}`)
    const text = await metrics.render()
    expect(sample(text, 'tokens_issued_total{kind="app_token"}')).toBe('2')
    expect(sample(text, 'tokens_refused_total{kind="session"}')).toBe('1')
    expect(sample(text, 'tokens_reused_total{kind="refresh_token"}')).toBe('1')
    expect(text.match(/^tokens_refused_total\{/gm)).toHaveLength(33)
    expect(sample(text, 'tokens_refused_total{kind="other"}')).toBe('69')
  })

  test('tell how far the clocks are apart, and the age of the last backup once there is one', async () => {
    const { metrics } = made()
    metrics.clockOffset(61.5)
    metrics.backupAge(null)
    const before = await metrics.render()
    expect(sample(before, 'clock_offset_seconds')).toBe('61.5')
    expect(sample(before, 'backup_age_seconds')).toBeUndefined()
    metrics.backupAge(90)
    expect(sample(await metrics.render(), 'backup_age_seconds')).toBe('90')
  })

  test('tell the figures of the store as they are when somebody looks', async () => {
    const { metrics, figures } = made()
    await metrics.render()
    figures.transactions = 25
    figures.walBytes = 0
    figures.writable = false
    const text = await metrics.render()
    expect(sample(text, 'database_transactions_total')).toBe('25')
    expect(sample(text, 'database_commits_total')).toBe('4')
    expect(sample(text, 'database_bytes')).toBe('8192')
    expect(sample(text, 'database_wal_bytes')).toBe('0')
    expect(sample(text, 'database_writable')).toBe('0')
  })

  test('tell what the purge did and how far behind it is', async () => {
    const { metrics } = made()
    metrics.purged('app_tokens', 500)
    metrics.purged('app_tokens', 20)
    metrics.purgeLag(90)
    const text = await metrics.render()
    expect(sample(text, 'purged_rows_total{kind="app_tokens"}')).toBe('520')
    expect(sample(text, 'purge_lag_seconds')).toBe('90')
  })

  test('are text that Prometheus can read', async () => {
    const { metrics } = made()
    metrics.route('GET', '/a"b\\c\nd').answered(200, 1)
    const text = await metrics.render()
    const line =
      /^(?:# (?:HELP|TYPE) [a-z_]+ .+|[a-z_]+(?:\{(?:[a-z]+="(?:[^"\\\n]|\\["\\n])*",?)+\})? (?:\d|NaN|\+Inf).*)?$/
    expect(text.split('\n').filter((each) => !line.test(each))).toEqual([])
    expect(text).toContain(String.raw`route="/a\"b\\c\nd"`)
    expect(metrics.contentType).toStartWith('text/plain')
  })
})

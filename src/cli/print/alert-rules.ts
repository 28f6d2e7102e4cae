type Rule = {
  readonly alert: string
  readonly expr: string
  readonly lasting: string
  readonly severity: 'critical' | 'warning'
  /** What is wrong, and what to do. */
  readonly summary: string
}

/** Only of this scrape job: other programs have metrics of the same names. */
const own = 'job="app-platform"'
const rateOf = (metric: string, labels = ''): string => `rate(${metric}{${own}${labels}}[5m])`
/** The 99th percentile of a duration. */
const slowest = (metric: string): string =>
  `histogram_quantile(0.99, sum by (instance, le) (${rateOf(`${metric}_bucket`)}))`

const rules: readonly Rule[] = [
  {
    alert: 'AppPlatformDown',
    expr: `up{${own}} == 0`,
    lasting: '1m',
    severity: 'critical',
    summary: 'The server does not answer. Read its log: journalctl -u app-platform.',
  },
  {
    alert: 'AppPlatformCondition',
    expr: `condition{${own}} == 1`,
    lasting: '1m',
    severity: 'critical',
    summary: 'The condition {{ $labels.name }} holds. The log (condition.began) and the health page say what to do.',
  },
  {
    alert: 'AppPlatformNotWritable',
    expr: `database_writable{${own}} == 0`,
    lasting: '1m',
    severity: 'critical',
    summary: 'The store takes no writes. The log and the health page say why.',
  },
  {
    alert: 'AppPlatformBackupOld',
    expr: `backup_age_seconds{${own}} > 36 * 3600`,
    lasting: '10m',
    severity: 'warning',
    summary: 'The last backup is more than 36 hours old. Look at what runs app-platform backup.',
  },
  {
    alert: 'AppPlatformNoBackup',
    expr: `up{${own}} == 1 unless on (job, instance) backup_age_seconds{${own}}`,
    lasting: '36h',
    severity: 'warning',
    summary: 'No backup was ever made. app-platform print backup-timer prints what makes one every day.',
  },
  {
    alert: 'AppPlatformDiskFilling',
    expr: `database_free_disk_bytes{${own}} < 1024 ^ 3 or predict_linear(database_free_disk_bytes{${own}}[6h], 24 * 3600) < 0`,
    lasting: '15m',
    severity: 'warning',
    summary: 'The disk of the database has less than 1 GiB left, or is full within a day. Make room.',
  },
  {
    alert: 'AppPlatformErrors',
    expr: `sum by (instance) (${rateOf('http_requests_total', ',status=~"5.."')}) / sum by (instance) (${rateOf('http_requests_total')}) > 0.05`,
    lasting: '10m',
    severity: 'critical',
    summary: 'More than 5 in 100 requests end in a 5xx. The log has http.failed with the cause.',
  },
  {
    alert: 'AppPlatformSlow',
    expr: `${slowest('http_request_duration_seconds')} > 1`,
    lasting: '10m',
    severity: 'warning',
    summary:
      'One in 100 requests takes more than a second. Compare event_loop_lag_seconds and database_sync_duration_seconds.',
  },
  {
    alert: 'AppPlatformSyncSlow',
    expr: `${slowest('database_sync_duration_seconds')} > 0.25`,
    lasting: '10m',
    severity: 'warning',
    summary: 'One in 100 syncs takes more than 250 ms, and every write waits for one. Look at the disk.',
  },
  {
    alert: 'AppPlatformEventLoopLate',
    expr: `${slowest('event_loop_lag_seconds')} > 0.25`,
    lasting: '10m',
    severity: 'warning',
    summary: 'The event loop is more than 250 ms late. The processor is too busy for this load.',
  },
  {
    alert: 'AppPlatformCheckpointsFail',
    expr: `increase(database_checkpoint_failures_total{${own}}[1h]) > 10 or database_wal_bytes{${own}} > 1024 ^ 3`,
    lasting: '15m',
    severity: 'warning',
    summary: 'The write-ahead log is not copied into the database. Find what else keeps the database open.',
  },
  {
    alert: 'AppPlatformDescriptorsShort',
    expr: `process_open_fds{${own}} / process_max_fds{${own}} > 0.8`,
    lasting: '5m',
    severity: 'warning',
    summary: 'More than 80 of 100 file descriptors are in use. Raise LimitNOFILE.',
  },
  {
    alert: 'AppPlatformJobBehind',
    expr: `time() - job_last_success_timestamp_seconds{${own}} > 3 * 3600`,
    lasting: '5m',
    severity: 'warning',
    summary:
      'The job {{ $labels.exported_job }} has not ended well for three hours. The log has job.failed with the cause.',
  },
  {
    alert: 'AppPlatformPurgeBehind',
    expr: `purge_lag_seconds{${own}} > 3600`,
    lasting: '30m',
    severity: 'warning',
    summary: 'Expired rows wait for more than an hour to be deleted. app-platform purge deletes them.',
  },
  {
    alert: 'AppPlatformWebhooksBehind',
    expr: `webhook_deliveries_due{${own}} > 1000`,
    lasting: '30m',
    severity: 'warning',
    summary: 'More than 1,000 webhook deliveries are due. The console shows which endpoints are slow.',
  },
  {
    alert: 'AppPlatformSecretsReused',
    expr: `increase(tokens_reused_total{${own}}[1h]) > 10`,
    lasting: '0m',
    severity: 'warning',
    summary:
      'Spent secrets ({{ $labels.kind }}) come back: an app retries wrongly, or secrets were stolen. Search the audit log for reuse_detected.',
  },
  {
    alert: 'AppPlatformRestarts',
    expr: `resets(process_uptime_seconds{${own}}[1h]) > 3`,
    lasting: '0m',
    severity: 'warning',
    summary: 'The server was started more than three times within an hour. Read its log: journalctl -u app-platform.',
  },
]

/** Alerting rules for Prometheus, for its `rule_files`. JSON strings are valid YAML strings. */
export const alertRules =
  (): string => `# Alerts for App Platform. Name this file in rule_files, and call the scrape job app-platform:
#   scrape_configs:
#     - job_name: app-platform
#       static_configs: [{ targets: ['127.0.0.1:9090'] }]  # METRICS_LISTEN, or where the server listens
groups:
  - name: app-platform
    rules:
${rules.map(ruleText).join('\n')}
`

const ruleText = ({ alert, expr, lasting, severity, summary }: Rule): string => `      - alert: ${alert}
        expr: ${JSON.stringify(expr)}
        for: ${lasting}
        labels: { severity: ${severity} }
        annotations: { summary: ${JSON.stringify(summary)} }`

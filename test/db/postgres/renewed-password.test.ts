import { SQL } from 'bun'
import { expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort, startCluster } from '../../support/postgres.ts'
import { eventually } from '../../support/crash.ts'
import { programCommand } from '../../support/program.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** A server whose DATABASE_URL is in a file, on a PostgreSQL that asks for a password. */
const startServerOfFile = async () => {
  const port = freePort()
  const cluster = startCluster({ port })
  const rules = join(cluster.folder, 'data/pg_hba.conf')
  writeFileSync(rules, `host all owner 127.0.0.1/32 scram-sha-256\n${readFileSync(rules, 'utf8')}`)
  const admin = new SQL({ url: cluster.url('postgres'), max: 1 })
  await admin.unsafe("CREATE ROLE owner LOGIN PASSWORD 'canary-one'")
  await admin.unsafe('CREATE DATABASE apps OWNER owner')
  await admin.unsafe('SELECT pg_reload_conf()')
  const file = join(temporaryFolder(), 'database-url')
  const write = (password: string, database = 'apps') =>
    writeFileSync(file, `postgres://owner:${password}@127.0.0.1:${port}/${database}\n`)
  write('canary-one')
  const child = Bun.spawn([...programCommand, 'serve', '--json', '--port', '0'], {
    env: { PATH: process.env['PATH'] ?? '', DATABASE_URL_FILE: file },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  let log = ''
  void (async () => {
    const decoder = new TextDecoder()
    for await (const chunk of child.stderr) log += decoder.decode(chunk, { stream: true })
  })()
  const { value } = await child.stdout.getReader().read()
  const { url } = JSON.parse(new TextDecoder().decode(value))
  const status = async () => (await fetch(`${url}/readyz`)).status
  const reload = async (event: string): Promise<string> => {
    const linesNow = () => log.split('\n').filter((line) => line.includes(`"event":"${event}"`))
    const before = linesNow().length
    child.kill('SIGHUP')
    await eventually(
      async () => linesNow().length,
      (count) => count > before,
    )
    return linesNow()[before] ?? ''
  }
  return { admin, child, cluster, log: () => log, reload, status, write }
}

test('a changed password is used for new connections, and a wrong one or another database changes nothing', async () => {
  const { admin, child, cluster, log, reload, status, write } = await startServerOfFile()
  await eventually(status, (code) => code === 200)
  write('canary-two')
  expect(await reload('settings.refused')).toContain('refuses the user or the password of DATABASE_URL')
  write('canary-one', 'others')
  expect(await reload('settings.refused')).toContain('another database than the one in use')
  expect(await status()).toBe(200)

  await admin.unsafe("ALTER ROLE owner PASSWORD 'canary-two'")
  await admin.unsafe("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'owner'")
  await eventually(status, (code) => code === 503)
  write('canary-two')
  expect(await reload('settings.changed')).toContain('used from now on: DATABASE_URL.')
  expect(await eventually(status, (code) => code === 200)).toBe(200)

  const inApps = new SQL({ url: cluster.url('apps'), max: 1 })
  const rows = await eventually(
    async () => await inApps.unsafe("SELECT actor_kind, detail FROM audit_events WHERE action = 'settings.changed'"),
    (found) => found.length > 0,
  )
  expect(rows).toEqual([{ actor_kind: 'system', detail: expect.stringContaining('["DATABASE_URL"]') }])
  expect(JSON.stringify(rows) + log()).not.toContain('canary')
  await inApps.close()
  await admin.close()
  child.kill('SIGTERM')
  expect(await child.exited).toBe(0)
  cluster.stop()
})

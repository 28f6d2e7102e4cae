import { afterAll, expect } from 'bun:test'
import { chmodSync, chownSync, copyFileSync, existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Certificates, makeCertificates } from '../../clients/support/certificates.ts'
import { askPostgres } from '../../support/beside.ts'
import { needs } from '../../support/needs.ts'
import { freePort, startCluster, type Cluster } from '../../support/postgres.ts'
import { runProgram } from '../../support/run-program.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const { test } = needs('postgres', 'openssl')

let cluster: Cluster | null = null
afterAll(() => cluster?.stop())

/** Lets the server show this certificate from its next connection on. */
const show = async ({ folder, url }: Cluster, { certificate, key }: Certificates): Promise<void> => {
  const { uid, gid } = statSync(folder)
  for (const [from, name] of [
    [certificate, 'server.crt'],
    [key, 'server.key'],
  ] as const) {
    const path = join(folder, 'data', name)
    copyFileSync(from, path)
    chownSync(path, uid, gid)
    chmodSync(path, 0o600)
  }
  await askPostgres(url('postgres'), 'ALTER SYSTEM SET ssl = on', [])
  await askPostgres(url('postgres'), 'SELECT pg_reload_conf()', [])
  await Bun.sleep(500)
}

test('a server is trusted over TLS if its certificate is of the named authority and for the named host, and else not used', async () => {
  const port = freePort()
  cluster = startCluster({ port })
  const [own, other, ofOtherHost] = [
    await makeCertificates(),
    await makeCertificates(),
    await makeCertificates('DNS:db.example'),
  ]
  const migrate = async (host: string, authority: string | null) => {
    const root = authority === null ? '' : `&sslrootcert=${authority}`
    const url = `postgres://app@${host}:${port}/postgres?sslmode=verify-full${root}`
    const { code, stdout, stderr } = await runProgram(['migrate', '--database', url])
    return { code, text: stdout + stderr }
  }
  const refused = { code: 1, text: expect.stringMatching(/^error: [^\n]*TLS[^\n]*sslrootcert[^\n]*\n$/) }
  const withoutTls = expect.stringMatching(
    /^error: PostgreSQL at localhost:\d+\/postgres offers no TLS[^\n]*ssl = on[^\n]*\n$/,
  )
  expect(await migrate('localhost', own.authority)).toEqual({ code: 1, text: withoutTls })

  await show(cluster, own)
  expect(await migrate('localhost', other.authority)).toEqual(refused)
  expect(await migrate('localhost', null)).toEqual(refused)
  expect(await migrate('localhost', own.authority)).toMatchObject({ code: 0 })
  expect(await migrate('127.0.0.1', own.authority)).toMatchObject({ code: 0 })
  expect((await migrate('localhost', '/nowhere.pem')).text).toContain('sslrootcert in DATABASE_URL names a file')

  // Without sslrootcert, a dump trusts whom the program trusts.
  const folder = temporaryFolder()
  const place = `postgres://app@localhost:${port}/postgres?sslmode=verify-full`
  for (const [name, authority] of [
    ['trusted', own.authority],
    ['other', other.authority],
  ] as const) {
    const file = join(folder, `${name}.dump`)
    const settings = { NODE_EXTRA_CA_CERTS: authority, TMPDIR: folder }
    const ran = await runProgram(['backup', file, '--database', place], [], settings)
    expect({ ...ran, isThere: existsSync(file) }).toMatchObject(
      name === 'trusted' ? { code: 0, stderr: '', isThere: true } : { code: 1, isThere: false },
    )
  }
  expect(readdirSync(folder)).toEqual(['trusted.dump'])

  await show(cluster, ofOtherHost)
  expect(await migrate('localhost', ofOtherHost.authority)).toEqual(refused)
}, 180_000)

import { expect, test } from 'bun:test'
import { parseAddress } from '../../db/postgres/address.ts'

test('a URL names the user, the hosts and the database', () => {
  expect(parseAddress('postgres://ada:p%40ss@localhost:5433/apps')).toEqual({
    hosts: [{ host: 'localhost', port: 5433, socket: null }],
    user: 'ada',
    password: 'p@ss',
    database: 'apps',
    tls: 'disable',
    authority: null,
  })
  const several = parseAddress(
    'postgresql://ada@one.example,[2001:db8::2]:5433/apps?sslmode=verify-full&sslrootcert=/ca.pem',
  )
  expect(several.hosts.map(({ host, port }) => [host, port])).toEqual([
    ['one.example', 5432],
    ['2001:db8::2', 5433],
  ])
  expect([several.tls, several.authority]).toEqual(['verify-full', '/ca.pem'])
  const [socket] = parseAddress('postgres://ada@localhost/apps?host=/run/postgresql').hosts
  expect(socket).toEqual({ host: 'localhost', port: 5432, socket: '/run/postgresql' })
  expect(parseAddress('postgres://ada@:5433/apps?host=/run/postgresql').hosts[0]?.port).toBe(5433)
})

test.each([
  'postgres://ada:canary@db.example/apps',
  'postgres://ada:canary@db.example/apps?sslmode=require',
  'postgres://ada:canary@db.example/apps?sslmode=disable',
  'postgres://ada:canary@127.0.0.1,db.example/apps',
  'postgres://ada:canary@10.0.0.1/apps?sslmode=prefer',
])('%p would be sent without verified TLS', (url) => {
  expect(() => parseAddress(url)).toThrow(/sslmode=verify-full/)
})

test.each([
  'postgres://localhost/apps',
  'postgres://ada:canary@localhost',
  'postgres://ada:canary@/apps',
  'postgres://ada:canary@local host/apps',
  'postgres://ada:canary@localhost/apps?options=-c',
  'postgres://ada:%zz@localhost/canary',
  'postgres://ada@localhost/apps?host=relative',
  'postgres://ada:canary@localhost:0/apps',
  'postgres://ada:canary@localhost:65536/apps',
  'postgres://ada:canary@localhost:0/apps?host=/run/postgresql',
])('%p is refused, and no part of it is repeated', (url) => {
  let message = ''
  try {
    parseAddress(url)
  } catch (error) {
    message = String(error)
  }
  expect(message).toContain('DATABASE_URL')
  expect(message).not.toContain('canary')
})

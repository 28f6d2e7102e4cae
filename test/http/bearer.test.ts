import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { requireBearer } from '../../src/http/bearer.ts'
import { rememberContext } from '../../src/http/request-context.ts'
import { refusalOf } from '../operations/support/owner.ts'
import { openAsOperator } from '../support/operator.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { contextFrom, doorOf } from './support/door.ts'

test('a bearer that is refused is counted as what it claims to be, where that is anything that calls', async () => {
  const platform = await openAsOperator(join(temporaryFolder(), 'bearer.db'))
  const counted: string[] = []
  const observe = { ...platform.observe, refused: (kind: string) => void counted.push(kind) }
  const door = doorOf({ ...platform, observe })
  for (const token of ['apat_a', 'apua_a', 'apus_a', 'apes_a', 'apur_a', 'aps_dev_a', 'a', '']) {
    const request = new Request('http://localhost/', { headers: { authorization: `Bearer ${token}` } })
    rememberContext(request, contextFrom('local'))
    expect(await refusalOf(requireBearer(door, request, 'invalid_token'))).toBe('invalid_token')
  }
  const claimed = ['app_token', 'user_tokens', 'session', 'embedded_session']
  expect(counted).toEqual([...claimed, ...Array(4).fill('unknown')])
  await platform.database.close()
})

import { expect } from 'bun:test'
import { join } from 'node:path'
import { resetFactors } from '../../../src/operations/factors/change-factors.ts'
import { removeFactor } from '../../../src/operations/factors/change-factors.ts'
import { addPasskey } from '../../../src/operations/factors/passkeys.ts'
import { finishSignIn, signIn } from '../../../src/operations/sessions/sign-in.ts'
import { sessionOf } from '../../operations/support/owner.ts'
import { restoreAt } from '../../cli/support/restore-at.ts'
import { softAuthenticator } from '../../support/authenticator.ts'
import { backUp } from '../../support/database-file.ts'
import { onSqlite } from '../../support/engines.ts'
import { addTotp } from '../../support/factors.ts'
import { openAsOperator, operator, trace } from '../../support/operator.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { addUser } from '../../support/world.ts'

const test = onSqlite('restore of a file')

test('factors that were reset and recovery codes that were used do not come back with an older backup', async () => {
  const file = join(temporaryFolder(), 'app-platform.db')
  const platform = await openAsOperator(file)
  const [user, other, third] = [await addUser(platform), await addUser(platform), await addUser(platform)]
  const { codes } = await addTotp(platform, user)
  await addTotp(platform, other)
  const passkey = softAuthenticator()
  const place = { origin: new URL(platform.publicUrl).origin, rpId: new URL(platform.publicUrl).hostname }
  const caller = await sessionOf(platform, third)
  const made = passkey.create({ challenge: 'MQ', place })
  await addPasskey(platform, trace, caller, { response: made, name: 'Laptop', readChallenge: () => 1 })
  backUp(file, `${file}.older`)
  const [{ id = '' } = {}] = await platform.database.queries.passkeys.ofUser(third.id)
  await removeFactor(platform, trace, caller, { kind: 'passkey', id })
  const browser = { agent: null, device: null }
  const pending = await signIn(platform, trace, user)
  if (pending.kind !== 'pending') throw new Error('No code is asked for.')
  await finishSignIn(platform, trace, pending, { kind: 'code', code: codes[0] ?? '' }, browser)
  await resetFactors(platform, trace, operator, other)
  await platform.database.close()
  await restoreAt(file, `${file}.older`)

  const restored = await openAsOperator(file)
  expect(await signIn(restored, trace, other)).toMatchObject({ kind: 'signed_in' })
  const [row] = await restored.database.queries.personal.rows('authenticatorApps', other.id)
  expect(row?.key).toHaveLength(0)
  expect(await signIn(restored, trace, third)).toMatchObject({ kind: 'signed_in' })
  const again = await signIn(restored, trace, user)
  if (again.kind !== 'pending') throw new Error('The factor is lost.')
  const use = async (code = '') => await finishSignIn(restored, trace, again, { kind: 'code', code }, browser)
  await expect(use(codes[0])).rejects.toMatchObject({ code: 'invalid_login' })
  expect(await use(codes[1])).toMatchObject({ kind: 'signed_in' })
  await restored.database.close()
})

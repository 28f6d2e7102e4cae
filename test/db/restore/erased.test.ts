import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { putBuilderResource } from '../../../src/operations/resources/resources.ts'
import type { Entry } from '../../../src/operations/sessions/entry.ts'
import { signInWithIdentity } from '../../../src/operations/sessions/identity.ts'
import { linkUser } from '../../../src/operations/users/users.ts'
import { eraseUser } from '../../../src/operations/users/personal-data.ts'
import { restoreAt } from '../../cli/support/restore-at.ts'
import { backUp, faultsIn } from '../../support/database-file.ts'
import { claimsOf } from '../../support/claims.ts'
import { openAsOperator, operator, passwordOnly, trace } from '../../support/operator.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** Nobody else has these words. */
const words = ['quetzalcoatl', 'huitzilopochtli', 'xochipilli', 'tlaloc', 'tezcatlipoca'] as const
const [mail, name, subject, place, agent] = words

/** The columns in which any of the words occurs. */
const placesOf = (file: string): readonly string[] => {
  using database = new Database(file, { readonly: true })
  const tables = database.query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table'").all()
  const found = tables.flatMap(({ name: table }) =>
    database
      .query<Record<string, unknown>, []>(`SELECT * FROM "${table}"`)
      .all()
      .flatMap((row) => Object.entries(row))
      .filter(([, value]) => words.some((word) => String(value).toLowerCase().includes(word)))
      .map(([column]) => `${table}.${column}`),
  )
  return [...new Set(found)].toSorted()
}

const idOf = (entry: Entry) => (entry.kind === 'signed_in' ? entry.user.id : entry.userId)

test('a person who was erased is in no column of an older backup that is restored next to the database', async () => {
  const file = join(temporaryFolder(), 'app-platform.db')
  const older = `${file}.older`
  const platform = await openAsOperator(file)
  const claims = claimsOf({ subject, email: `${mail}@id.example`, name })
  const rules = { ...passwordOnly, createsUsers: true }
  const first = await signInWithIdentity(platform, trace, claims, rules, { agent, begunAt: platform.clock.now() })
  await linkUser(platform, trace, operator, { email: claims.email, externalId: `${mail}-1` })
  const stated = { ownerExternalId: `${mail}-1`, name: place, slug: place, status: 'published' } as const
  const resource = { ...stated, kind: 'site', externalId: place, createdAt: null, updatedAt: null } as const
  await putBuilderResource(platform, trace, operator, resource)
  backUp(file, older)
  expect(placesOf(older)).toEqual([
    'identities.subject',
    'resources.external_id',
    'resources.name',
    'resources.slug',
    'sessions.agent',
    'users.email',
    'users.external_id',
    'users.name',
  ])
  await eraseUser(platform, trace, operator, { email: claims.email })
  await platform.database.close()
  expect(placesOf(file)).toEqual([])
  await restoreAt(file, older)
  expect(placesOf(file)).toEqual([])
  expect(await faultsIn(file)).toEqual([])

  // The person is a stranger now, and not the erased user.
  const restored = await openAsOperator(file)
  const next = await signInWithIdentity(restored, trace, claims, rules, { agent: null, begunAt: restored.clock.now() })
  expect(idOf(next)).not.toBe(idOf(first))
  await restored.database.close()
})

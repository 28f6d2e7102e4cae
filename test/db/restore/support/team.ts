import { addMember, changeMemberRole, removeMember } from '../../../../src/operations/apps/members.ts'
import type { Platform } from '../../../../src/operations/platform.ts'
import { operator, trace } from '../../../support/operator.ts'
import { addApp, addUser, type Login } from '../../../support/world.ts'
import type { Thing } from './things.ts'

/** Members of an app besides its owner. */
export const makeTeam = async (platform: Platform, owner: Login): Promise<readonly Thing[]> => {
  const { slug } = await addApp(platform, owner)
  const [removed, demoted] = [await addUser(platform), await addUser(platform)]
  for (const { email } of [removed, demoted]) await addMember(platform, trace, operator, { slug, email, role: 'admin' })
  const roleOf = async ({ database }: Platform, { id }: Login) =>
    (await database.queries.appMembers.access(id, slug))?.role
  const setRole = async (at: Platform, role: 'admin' | 'developer') =>
    await changeMemberRole(at, trace, operator, { slug, userId: demoted.id, role })
  return [
    {
      name: 'member of an app',
      end: async (at) => await removeMember(at, trace, operator, { slug, userId: removed.id }),
      isInForce: async (at) => (await roleOf(at, removed)) !== undefined,
    },
    {
      name: 'role of a member',
      end: async (at) => await setRole(at, 'developer'),
      begin: async (at) => await setRole(at, 'admin'),
      isInForce: async (at) => (await roleOf(at, demoted)) === 'admin',
    },
  ]
}

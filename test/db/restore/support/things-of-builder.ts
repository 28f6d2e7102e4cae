import type { Platform } from '../../../../src/operations/platform.ts'
import {
  deleteBuilderResource,
  findBuilderResource,
  putBuilderResource,
} from '../../../../src/operations/resources/resources.ts'
import {
  createServiceKey,
  revokeServiceKey,
  rotateServiceKey,
} from '../../../../src/operations/service-keys/change-service-keys.ts'
import { linkUser } from '../../../../src/operations/users/users.ts'
import { eraseUser } from '../../../../src/operations/users/personal-data.ts'
import { operator, trace } from '../../../support/operator.ts'
import { addUser } from '../../../support/world.ts'
import type { Thing } from './things.ts'

/** What the management API knows: keys of the builder, people and their websites. */
export const makeThingsOfBuilder = async (platform: Platform): Promise<readonly Thing[]> => [
  ...(await makeServiceKeys(platform)),
  ...(await makeMembers(platform)),
]

const isLiveKey = (id: string) => async (at: Platform) => {
  const key = await at.database.queries.serviceKeys.find(id)
  return key !== null && key.revokedAt === null && key.expiresAt === null
}

const makeServiceKeys = async (platform: Platform): Promise<readonly Thing[]> => {
  const input = { name: 'Builder', rights: ['users:read'], networks: [], expiresInDays: null }
  const [revoked, rotated] = [
    await createServiceKey(platform, trace, operator, input),
    await createServiceKey(platform, trace, operator, input),
  ]
  return [
    {
      name: 'service key, revoked',
      end: async (at) => await revokeServiceKey(at, trace, operator, revoked.id),
      isInForce: isLiveKey(revoked.id),
    },
    {
      name: 'service key, rotated',
      end: async (at) => await rotateServiceKey(at, trace, operator, { id: rotated.id, graceHours: 1 }),
      isInForce: isLiveKey(rotated.id),
    },
  ]
}

/** A person whom the builder has sent, and their website. */
const makeMembers = async (platform: Platform): Promise<readonly Thing[]> => {
  const [erased, owner] = [await addUser(platform), await addUser(platform)]
  await linkUser(platform, trace, operator, { email: owner.email, externalId: owner.id })
  const place = { kind: 'site', externalId: owner.id } as const
  const stated = { ...place, ownerExternalId: owner.id, name: 'Shop', slug: 'shop', status: 'published' } as const
  await putBuilderResource(platform, trace, operator, { ...stated, createdAt: null, updatedAt: null })
  return [
    {
      name: 'person, erased',
      end: async (at) => await eraseUser(at, trace, operator, { email: erased.email }),
      isInForce: async (at) => (await at.database.queries.users.byId(erased.id))?.email === erased.email,
    },
    {
      name: 'website',
      end: async (at) => await deleteBuilderResource(at, trace, operator, place),
      isInForce: async (at) => (await findBuilderResource(at, place)) !== null,
    },
  ]
}

import { environmentOfClientId } from '../../domain/identifier.ts'
import { storedJson } from '../stored-json.ts'
import { PlatformError } from '../../domain/errors.ts'
import type { Platform } from '../platform.ts'
import { builderUser } from './builder-users.ts'
import { knownUser } from './find-user.ts'

/** Everything that is stored about a person, for the person. */
export type PersonalData = Awaited<ReturnType<typeof exportUser>>

/** The data as JSON, with times as RFC 3339 writes them. */
export const personalDataText = (data: PersonalData, indent = 0): string => JSON.stringify(data, readableTimes, indent)

const readableTimes = (key: string, value: unknown): unknown =>
  key.endsWith('At') && typeof value === 'number' ? new Date(value).toISOString() : value

/** Events that one read takes, and the pause after it, so that a long audit log does not stop the server. */
const eventsAtOnce = 2_000

/** @throws invalid_request for an unknown address */
export const exportUser = async (platform: Platform, address: string) => {
  const { queries: q } = platform.database
  const user = await knownUser(q, address)
  if (user instanceof PlatformError) throw user
  const { grants, ...data } = await q.personal.data(user)
  return {
    user: builderUser(user),
    ...data,
    grants: grants.map(({ clientId, ...grant }) =>
      Object.assign(grant, { environment: environmentOfClientId(clientId) }),
    ),
    audit: await eventsAbout(platform, user.id),
  }
}

/** Events that the person caused or that are about them, oldest first. */
const eventsAbout = async ({ database: { queries: q } }: Platform, userId: string) => {
  const found: object[] = []
  let after = ''
  for (;;) {
    const { events, searchedTo } = await q.auditReading.aboutUser(userId, after, eventsAtOnce)
    for (const { id, at, action, target, outcome, reason, address, detail } of events) {
      const facts = detail === null ? null : storedJson<object>(detail)
      found.push({ id, at: new Date(at).toISOString(), action, target, outcome, reason, address, detail: facts })
    }
    if (searchedTo === null) return found
    after = searchedTo
    await Bun.sleep(1) // for other requests
  }
}

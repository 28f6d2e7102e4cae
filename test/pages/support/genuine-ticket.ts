import { formTicket } from '../../../src/domain/form-ticket.ts'
import { rowKey } from '../../../src/domain/identifier.ts'
import { serverKeyIn } from '../../support/server-key-in.ts'
import type { World } from '../../support/world.ts'
import type { PlainBrowser } from './plain-browser.ts'

/** The ticket that the server would issue: a person who knows their session cookie can compute one for any path. */
export const genuineTicket = async (
  { platform: { clock, random }, server }: Pick<World, 'platform' | 'server'>,
  browser: PlainBrowser,
  action: string,
  bound: readonly string[] = [],
): Promise<string> =>
  formTicket(
    { server: await serverKeyIn(server.database), browser: browser.cookies.get('session') ?? '' },
    { action, bound },
    rowKey(random.uuid(clock.now())),
  )

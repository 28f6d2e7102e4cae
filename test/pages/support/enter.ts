import type { Page } from 'playwright-core'
import { type Login, signIn } from '../../support/world.ts'
import type { Who } from './site-map.ts'
import type { StockedWorld } from './stocked-world.ts'
import { cookieNamed } from '../../support/cookie.ts'

export const loginOf = ({ user, operator }: StockedWorld, who: Exclude<Who, 'visitor'>): Login =>
  who === 'user' ? user : operator

const sessions = new Map<string, Promise<string>>()

/**
 * A session without its form, for tests that are not about signing in: its cookie, null for a visitor. One per world and
 * person, so that looking leaves no traces.
 */
export const sessionOf = async (world: StockedWorld, who: Who): Promise<string | null> => {
  if (who === 'visitor') return null
  const key = `${world.server.database} ${who}`
  const session = sessions.get(key) ?? signIn(world.server.url, loginOf(world, who))
  sessions.set(key, session)
  return await session
}

/** Gives the browser that session. */
export const enterAs = async (page: Page, world: StockedWorld, who: Who): Promise<void> => {
  const value = await sessionOf(world, who)
  if (value !== null)
    await page.context().addCookies([{ name: cookieNamed(world.server.url, 'session'), value, url: world.server.url }])
}

import { Elysia } from 'elysia'
import type { Door } from '../../http/door.ts'
import { askRoute } from './ask.tsx'
import { decideRoute } from './decide.tsx'
import { switchAccountRoute } from './switch-account.ts'

/** Where apps send people to ask for access (RFC 6749 section 3.1). */
export const frontDoorRoutes = (door: Door) =>
  new Elysia().use(askRoute(door)).use(decideRoute(door)).use(switchAccountRoute(door))

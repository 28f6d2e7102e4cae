import { Elysia } from 'elysia'
import type { Door } from '../../http/door.ts'
import { appRoutes } from './app-routes.tsx'
import { overviewRoutes } from './overview-routes.tsx'
import { passwordRoutes } from './password-routes.tsx'
import { sessionRoutes } from './session-routes.tsx'

/** What people decide about their own account. */
export const accountRoutes = (door: Door) =>
  new Elysia().use(overviewRoutes(door)).use(passwordRoutes(door)).use(sessionRoutes(door)).use(appRoutes(door))

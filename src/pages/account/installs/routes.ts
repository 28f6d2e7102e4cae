import { Elysia } from 'elysia'
import type { Door } from '../../../http/door.ts'
import { listRoutes } from './list-routes.tsx'
import { openRoutes } from './open-routes.tsx'
import { questionRoutes } from './question-routes.tsx'

/** Apps that owners install on their websites and stores, and open here. */
export const ownInstallRoutes = (door: Door) =>
  new Elysia().use(listRoutes(door)).use(questionRoutes(door)).use(openRoutes(door))

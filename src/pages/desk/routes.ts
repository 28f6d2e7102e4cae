import { Elysia } from 'elysia'
import type { Door } from '../../http/door.ts'
import { seeOther } from '../page.ts'
import { operatorOnly } from '../visit.ts'
import { appRoutes } from './apps/routes.tsx'
import { auditRoutes } from './audit/routes.tsx'
import { healthRoutes } from './health/routes.tsx'
import { installRoutes } from './installs/routes.tsx'
import { deskPaths } from './paths.ts'
import { reviewRoutes } from './reviews/routes.tsx'
import { userRoutes } from './users/routes.tsx'

/** What operators decide on. For everybody else who is signed in there is nothing here. */
export const deskRoutes = (door: Door) =>
  new Elysia()
    .use(front(door))
    .use(reviewRoutes(door))
    .use(installRoutes(door))
    .use(appRoutes(door))
    .use(userRoutes(door))
    .use(auditRoutes(door))
    .use(healthRoutes(door))

const front = (door: Door) =>
  new Elysia().use(operatorOnly(door)).get(deskPaths.desk, async () => seeOther(deskPaths.reviews))

import { Elysia } from 'elysia'
import type { Door } from '../../http/door.ts'
import { appsRoutes } from './apps/routes.tsx'
import { credentialRoutes } from './credentials/routes.tsx'
import { firstCallRoutes } from './first-call/routes.tsx'
import { installRoutes } from './installs/routes.tsx'
import { overviewRoutes } from './overview/routes.tsx'
import { redirectUriRoutes } from './redirect-uris/routes.tsx'
import { scopeRoutes } from './scopes/routes.tsx'
import { trailRoutes } from './trail/routes.tsx'
import { versionRoutes } from './versions/routes.tsx'
import { webhookRoutes } from './webhooks/routes.tsx'

/** The developer console: a person's own apps. */
export const consoleRoutes = (door: Door) =>
  new Elysia()
    .use(appsRoutes(door))
    .use(overviewRoutes(door))
    .use(credentialRoutes(door))
    .use(redirectUriRoutes(door))
    .use(scopeRoutes(door))
    .use(versionRoutes(door))
    .use(installRoutes(door))
    .use(webhookRoutes(door))
    .use(trailRoutes(door))
    .use(firstCallRoutes(door))

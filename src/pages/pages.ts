import { Elysia } from 'elysia'
import type { BodyRule } from '../http/admission.ts'
import type { Door } from '../http/door.ts'
import { accountRoutes } from './account/routes.ts'
import { assetRoutes } from './assets.ts'
import { consoleRoutes } from './console/routes.ts'
import { deskRoutes } from './desk/routes.ts'
import { frontDoorRoutes } from './front-door/routes.tsx'
import { homeRoutes } from './home/routes.tsx'
import { ownInstallRoutes } from './account/installs/routes.ts'
import { isPageRoute } from './refusal-page.tsx'
import { signInRoutes } from './sign-in/routes.tsx'

/** Every page for people. */
export const pages = (door: Door) =>
  new Elysia()
    .use(assetRoutes())
    .use(homeRoutes(door))
    .use(signInRoutes(door))
    .use(frontDoorRoutes(door))
    .use(accountRoutes(door))
    .use(ownInstallRoutes(door))
    .use(consoleRoutes(door))
    .use(deskRoutes(door))

const formBodies: BodyRule = { limitBytes: 256 * 1024, mediaTypes: ['application/x-www-form-urlencoded'] }

/** What the routes of pages take as a body. */
export const pageBodyRule = (method: string, pattern: string): BodyRule | undefined =>
  method === 'POST' && isPageRoute(pattern) ? formBodies : undefined

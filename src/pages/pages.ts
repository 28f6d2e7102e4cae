import { Elysia } from 'elysia'
import type { BodyRule } from '../http/admission.ts'
import type { Door } from '../http/door.ts'
import { connectedAppRoutes } from './account/connected-app.tsx'
import { connectedAppsRoutes } from './account/connected-apps.tsx'
import { installQuestionRoutes } from './account/install-question.tsx'
import { ownInstallRoutes } from './account/installs.tsx'
import { openAppRoutes } from './account/open-app.tsx'
import { accountOverviewRoutes } from './account/overview.tsx'
import { passwordRoutes } from './account/password.tsx'
import { ownSessionRoutes } from './account/sessions.tsx'
import { assetRoutes } from './assets.ts'
import { consoleRoutes } from './console/routes.ts'
import { deskRoutes } from './desk/routes.ts'
import { frontDoorRoutes } from './front-door/routes.tsx'
import { homeRoutes } from './home.tsx'
import { isPageRoute } from './refusal-page.tsx'
import { signInRoutes } from './sign-in.tsx'

/** Every page for people, by area. */
export const pages = (door: Door) =>
  new Elysia()
    .use(assetRoutes())
    .use(homeRoutes(door))
    .use(signInRoutes(door))
    .use(frontDoorRoutes(door))
    .use(account(door))
    .use(consoleRoutes(door))
    .use(deskRoutes(door))

/** What people see and decide about their own account. */
const account = (door: Door) =>
  new Elysia()
    .use(accountOverviewRoutes(door))
    .use(passwordRoutes(door))
    .use(ownSessionRoutes(door))
    .use(connectedAppsRoutes(door))
    .use(connectedAppRoutes(door))
    .use(ownInstallRoutes(door))
    .use(installQuestionRoutes(door))
    .use(openAppRoutes(door))

const formBodies: BodyRule = { limitBytes: 256 * 1024, mediaTypes: ['application/x-www-form-urlencoded'] }

/** The body that a page route takes. */
export const pageBodyRule = (method: string, pattern: string): BodyRule | undefined =>
  method === 'POST' && isPageRoute(pattern) ? formBodies : undefined

import { Elysia } from 'elysia'
import type { BodyRule } from '../http/admission.ts'
import type { RouteRule } from '../http/app.ts'
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
import { auditRoutes } from './desk/audit.tsx'
import { deskAppRoutes } from './desk/app.tsx'
import { deskAppsRoutes } from './desk/apps.tsx'
import { deskInstallRoutes } from './desk/installs.tsx'
import { deskUserRoutes } from './desk/user.tsx'
import { deskUsersRoutes } from './desk/users.tsx'
import { healthRoutes } from './desk/health.tsx'
import { newUserRoutes } from './desk/new-user.tsx'
import { reviewRoutes } from './desk/review.tsx'
import { reviewsRoutes } from './desk/reviews.tsx'
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
    .use(desk(door))

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

/** What operators see and decide. To everybody else these pages do not exist. */
const desk = (door: Door) =>
  new Elysia()
    .use(reviewsRoutes(door))
    .use(reviewRoutes(door))
    .use(deskInstallRoutes(door))
    .use(deskAppsRoutes(door))
    .use(deskAppRoutes(door))
    .use(deskUsersRoutes(door))
    .use(newUserRoutes(door))
    .use(deskUserRoutes(door))
    .use(auditRoutes(door))
    .use(healthRoutes(door))

const formBodies: BodyRule = { limitBytes: 256 * 1024, mediaTypes: ['application/x-www-form-urlencoded'] }

/** The body that a page route takes. */
export const pageRule = (method: string, pattern: string): RouteRule | undefined =>
  method === 'POST' && isPageRoute(pattern) ? { body: formBodies, answer: null } : undefined

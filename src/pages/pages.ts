import { type BodyRule, fileFormBodies } from '../http/admission.ts'
import type { RouteRule } from '../http/api.ts'
import { baseApp, endpointRoutes } from '../http/app.ts'
import { callOf } from '../http/call.ts'
import { docsRoutes } from '../http/docs.ts'
import type { Door } from '../http/door.ts'
import { endpointsOf } from '../http/table.ts'
import { accountSteps } from './account/steps.tsx'
import { appPages } from './app/app-pages.ts'
import { leadOn } from './chosen-environment.ts'
import { editVersionPattern, newVersionPattern } from './app/upload-version.tsx'
import { connectedAppRoutes } from './account/connected-apps.tsx'
import { installQuestionRoutes } from './account/install-question.tsx'
import { ownInstallRoutes } from './account/installs.tsx'
import { openAppRoutes } from './account/open-app.tsx'
import { accountOverviewRoutes } from './account/overview.tsx'
import { emailRoutes } from './account/email.tsx'
import { mailRoutes } from './account/mails.tsx'
import { factorRoutes } from './account/factors.tsx'
import { proveRoutes } from './account/prove.tsx'
import { passwordRoutes } from './account/password.tsx'
import { ownSessionRoutes } from './account/sessions.tsx'
import { assetRoutes } from './assets.ts'
import { demoCallbackRoutes } from './demo-callback.tsx'
import { deskAppsRoutes } from './desk/apps.tsx'
import { auditRoutes } from './desk/audit.tsx'
import { backupRoutes } from './desk/backups.tsx'
import { healthRoutes, quotaRoutes, settingRoutes } from './desk/server.tsx'
import { deskInstallRoutes } from './desk/installs.tsx'
import { deskUserRoutes, deskUsersRoutes } from './desk/users.tsx'
import { reviewRoutes } from './desk/review.tsx'
import { reviewsRoutes } from './desk/reviews.tsx'
import { builderWebhookRoutes } from './desk/webhooks.tsx'
import { scopeRoutes } from './desk/scopes.tsx'
import { serviceKeyRoutes } from './desk/service-keys.tsx'
import { directoryRoutes } from './account/directory.tsx'
import { forgotPasswordRoutes } from './forgot-password.tsx'
import { consentRoutes } from './front-door/consent.tsx'
import { guideRoutes } from './guides/guides.tsx'
import { homeRoutes } from './home.tsx'
import { invitationRoutes } from './invitation.tsx'
import { packPage } from '../http/packed.ts'
import { RefusedPage } from './page.ts'
import { isPageRoute, refusalPage } from './refusal-page.tsx'
import { secondStepRoutes } from './second-step.tsx'
import { setPasswordRoutes } from './set-password.tsx'
import { signInRoutes } from './sign-in.tsx'
import { type Routes, routes } from './change.tsx'
import { stepRoutes } from './step.tsx'

/** Every page for people, by area. */
export const pages: Routes = (app, door) => {
  app.mapResponse(async ({ responseValue, request }) => {
    if (responseValue instanceof RefusedPage) callOf(request).notes.errorCode ??= responseValue.logCode
    if (!(responseValue instanceof Response)) return undefined
    return await packPage(await leadOn(responseValue, callOf(request)), request)
  })
  all(app, door)
  if (door.servesDemo) demoCallbackRoutes(app, door)
}

const all = routes(() => [
  assetRoutes,
  homeRoutes,
  guideRoutes,
  signInRoutes,
  secondStepRoutes,
  setPasswordRoutes,
  forgotPasswordRoutes,
  invitationRoutes,
  consentRoutes,
  directoryRoutes,
  account,
  desk,
  appPages,
])

/** What people see and decide about their own account. */
const account = routes(() => [
  accountOverviewRoutes,
  passwordRoutes,
  emailRoutes,
  mailRoutes,
  factorRoutes,
  proveRoutes,
  ownSessionRoutes,
  connectedAppRoutes,
  ownInstallRoutes,
  installQuestionRoutes,
  openAppRoutes,
  stepRoutes(...accountSteps),
])

/** What operators see and decide. To everybody else these pages do not exist. */
const desk = routes(() => [
  reviewsRoutes,
  reviewRoutes,
  deskInstallRoutes,
  deskAppsRoutes,
  deskUsersRoutes,
  deskUserRoutes,
  builderWebhookRoutes,
  scopeRoutes,
  serviceKeyRoutes,
  auditRoutes,
  healthRoutes,
  backupRoutes,
  quotaRoutes,
  settingRoutes,
])

const fileForms: ReadonlySet<string> = new Set([newVersionPattern, editVersionPattern])

const formBodies: BodyRule = { limitBytes: 256 * 1024, mediaTypes: ['application/x-www-form-urlencoded'] }

/** What the server needs to serve every page, and the documents of the API. */
export const servePages = (door: Door) => {
  const refusal = refusalPage(door.platform)
  const docs = docsRoutes(door.platform.publicUrl, () => endpointRoutes(door, endpointsOf(door)).routes)
  const app = baseApp(door.log, refusal).use(docs)
  pages(app, door)
  return { app, ruleOf: pageRule, refusalPage: refusal }
}

/** The body that a page route takes. */
export const pageRule = (method: string, pattern: string): RouteRule | undefined =>
  method === 'POST' && isPageRoute(pattern)
    ? { body: fileForms.has(pattern) ? fileFormBodies : formBodies, answer: null }
    : undefined

import { routes } from '../change.tsx'
import { stepRoutes } from '../step.tsx'
import { type AppPlace, inConsole, onDesk } from './app-area.tsx'
import { appSteps } from './app-steps.tsx'
import { ownAppsRoutes } from './apps.tsx'
import { webhookAttemptRoutes } from './attempts.tsx'
import { credentialRoutes, secretSteps } from './credentials.tsx'
import { deskAppRoutes } from './desk-overview.tsx'
import { endpointSteps } from './endpoint-parts.tsx'
import { webhookEndpointRoutes } from './endpoint.tsx'
import { firstCallRoutes } from './first-call.tsx'
import { appInstallRoutes } from './installs.tsx'
import { memberSteps } from './member-steps.tsx'
import { invitationRoutesOfApp, memberRoutes } from './members.tsx'
import { newEndpointRoutes } from './new-endpoint.tsx'
import { appOverviewRoutes } from './overview.tsx'
import { redirectUriRoutes, uriRemoval } from './redirect-uris.tsx'
import { newRollbackRoutes } from './rollback.tsx'
import { appScopeRoutes, appSettingRoutes, deskAppSettingRoutes } from './settings.tsx'
import { appTrailRoutes } from './trail.tsx'
import { uploadVersionRoutes } from './upload-version.tsx'
import { appVersionRoutes, draftRemoval } from './version.tsx'
import { appVersionsRoutes } from './versions.tsx'
import { webhooksRoutes } from './webhooks.tsx'

/** The list of a developer's own apps, and the pages of one app: those that members and operators both have, and those of one of them. */
export const appPages = routes(() => [
  ownAppsRoutes,
  shared(inConsole),
  shared(onDesk),
  stepRoutes(...appSteps, ...secretSteps, ...endpointSteps, ...memberSteps, uriRemoval, draftRemoval),
  // On the desk lists of all apps stand for these: reviews, installs and the audit log.
  appOverviewRoutes,
  firstCallRoutes,
  appVersionsRoutes,
  uploadVersionRoutes,
  appVersionRoutes,
  newRollbackRoutes,
  appInstallRoutes,
  appTrailRoutes,
  invitationRoutesOfApp,
  // And these are for operators only.
  deskAppRoutes,
  deskAppSettingRoutes(onDesk),
])

const shared = (place: AppPlace) =>
  routes(() => [
    credentialRoutes(place),
    redirectUriRoutes(place),
    appScopeRoutes(place),
    appSettingRoutes(place),
    webhooksRoutes(place),
    newEndpointRoutes(place),
    webhookEndpointRoutes(place),
    webhookAttemptRoutes(place),
    memberRoutes(place),
  ])

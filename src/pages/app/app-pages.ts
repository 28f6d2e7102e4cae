import { routes } from '../change.tsx'
import { stepRoutes } from '../step.tsx'
import { type AppPlace, inConsole, onDesk } from './app-area.tsx'
import { appSteps } from './app-steps.tsx'
import { ownAppsRoutes } from './apps.tsx'
import { endpointSteps, webhookRoutes } from './webhooks.tsx'
import { credentialRoutes, secretSteps } from './credentials.tsx'
import { appOverviewRoutes, deskAppRoutes } from './overview.tsx'
import { firstCallRoutes } from './first-call.tsx'
import { appInstallRoutes } from './installs.tsx'
import { invitationRoutesOfApp, memberRoutes, memberSteps } from './members.tsx'
import { newEndpointRoutes } from './new-endpoint.tsx'
import { redirectUriRoutes, uriRemoval } from './redirect-uris.tsx'
import { appVersionsRoutes } from './versions.tsx'
import { appScopeRoutes, appSettingRoutes, deskAppSettingRoutes } from './settings.tsx'
import { appTrailRoutes } from './trail.tsx'
import { uploadVersionRoutes } from './upload-version.tsx'
import { appVersionRoutes, draftRemoval } from './version.tsx'

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
    newEndpointRoutes(place),
    webhookRoutes(place),
    memberRoutes(place),
  ])

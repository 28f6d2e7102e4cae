import { Elysia } from 'elysia'
import type { Door } from '../../http/door.ts'
import { stepRoutes } from '../step.tsx'
import { inBoth, type AppPlace } from './app-area.tsx'
import { appSteps } from './app-steps.tsx'
import { newAppRoutes, ownAppsRoutes } from './apps.tsx'
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
import { appVersionsRoutes, liveVersionsRoutes, rollbackRoutes } from './versions.tsx'
import { webhooksRoutes } from './webhooks.tsx'

/** The list of a developer's own apps, and the pages of one app: those that members and operators both have, and those of one of them. */
export const appPages = (door: Door) => {
  const { console, desk } = inBoth((place) => shared(door, place))
  const { desk: deskPlace } = inBoth((place) => place)
  return new Elysia()
    .use(ownAppsRoutes(door))
    .use(newAppRoutes(door))
    .use(console)
    .use(desk)
    .use(stepRoutes(door, [...appSteps, ...secretSteps, ...endpointSteps, ...memberSteps, uriRemoval, draftRemoval]))
    .use(forMembers(door))
    .use(deskAppRoutes(door))
    .use(deskAppSettingRoutes(door, deskPlace))
}

const shared = (door: Door, place: AppPlace) =>
  new Elysia()
    .use(credentialRoutes(door, place))
    .use(redirectUriRoutes(door, place))
    .use(appScopeRoutes(door, place))
    .use(appSettingRoutes(door, place))
    .use(webhooksRoutes(door, place))
    .use(newEndpointRoutes(door, place))
    .use(webhookEndpointRoutes(door, place))
    .use(webhookAttemptRoutes(door, place))
    .use(memberRoutes(door, place))

/** On the desk lists of all apps stand for these: reviews, installs and the audit log. */
const forMembers = (door: Door) =>
  new Elysia()
    .use(appOverviewRoutes(door))
    .use(firstCallRoutes(door))
    .use(appVersionsRoutes(door))
    .use(uploadVersionRoutes(door))
    .use(appVersionRoutes(door))
    .use(rollbackRoutes(door))
    .use(liveVersionsRoutes(door))
    .use(newRollbackRoutes(door))
    .use(appInstallRoutes(door))
    .use(appTrailRoutes(door))
    .use(invitationRoutesOfApp(door))

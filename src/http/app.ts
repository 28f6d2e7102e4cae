import { Elysia } from 'elysia'
import { docsRoutes } from './docs.ts'
import type { Door } from './door.ts'
import type { RefusalPage } from './envelope.ts'
import { errorHandling } from './errors.ts'
import { embeddedSessionRoute } from './routes/embedded/session.ts'
import { meRoute } from './routes/me.ts'
import { authorizeRoute } from './routes/oauth/authorize.ts'
import { oauthMeRoute } from './routes/oauth/me.ts'
import { revokeRoute } from './routes/oauth/revoke.ts'
import { oauthTokenRoute } from './routes/oauth/token.ts'
import { metricsRoute, observabilityRoutes } from './routes/observability.ts'
import { resourcesRoute } from './routes/resources.ts'
import { sessionRoutes } from './routes/session.ts'
import { tokenRoute } from './routes/token.ts'
import { versionRoutes } from './routes/versions.ts'
import { standardRoutes } from './standard/routes.ts'
import { unreadBody } from './unread-body.ts'

/** Everything that this server answers to programs; pages for people are mounted beside it. */
export const createApp = (door: Door, refusalPage: RefusalPage = () => null) =>
  new Elysia({ handler: { standardHostname: false }, strictPath: true })
    .use(errorHandling(door.log, refusalPage)) // first, so that no route answers an error of its own
    .use(unreadBody()) // nor reads a body that nobody asked for
    .use(docsRoutes())
    .use(tokenRoute(door))
    .use(meRoute(door))
    .use(versionRoutes(door))
    .use(authorizeRoute(door))
    .use(oauthTokenRoute(door))
    .use(oauthMeRoute(door))
    .use(revokeRoute(door))
    .use(resourcesRoute(door))
    .use(sessionRoutes(door))
    .use(embeddedSessionRoute(door))
    .use(standardRoutes(door))
    .use(observabilityRoutes(door))
    .use(door.servesMetrics ? metricsRoute(door) : new Elysia())

import { Elysia } from 'elysia'
import type { Environment } from '../../../domain/app.ts'
import type { Door } from '../../../http/door.ts'
import { listLiveCredentials } from '../../../operations/credentials/list-credentials.ts'
import { listRedirectUris } from '../../../operations/redirect-uris.ts'
import { page } from '../../page.ts'
import { signedIn } from '../../visit.ts'
import { ownAppOf } from '../owner.ts'
import { callFacts } from './facts.ts'
import { FirstCallPage } from './first-call-page.tsx'

/** Lines to paste, filled in with the app. */
export const firstCallRoutes = (door: Door) =>
  new Elysia().use(signedIn(door)).get('/console/:slug/first-call', async ({ request, params: { slug } }) => {
    const { visit, app } = await ownAppOf(door, request, slug)
    const environment = environmentOf(request)
    const { redirectUris } = await listRedirectUris(door.platform, slug)
    const facts = callFacts(door.platform.publicUrl, app, environment, redirectUris[environment])
    const secrets = (await listLiveCredentials(door.platform, app.clientIds))[environment]
    return page(
      <FirstCallPage visit={visit} app={app} environment={environment} facts={facts} hasSecret={secrets.length > 0} />,
    )
  })

const environmentOf = (request: Request): Environment =>
  new URL(request.url).searchParams.get('environment') === 'production' ? 'production' : 'development'

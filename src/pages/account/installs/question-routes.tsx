import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Environment } from '../../../domain/app.ts'
import { type PlatformError, refuse } from '../../../domain/errors.ts'
import { resourceKinds } from '../../../domain/resource.ts'
import { parseStoredScope } from '../../../domain/scope.ts'
import type { Door } from '../../../http/door.ts'
import { actingAs, ownsApp } from '../../../operations/acting-as.ts'
import { createInstall, prepareInstall } from '../../../operations/installs/create-install.ts'
import { formFields, forms, ticketOf } from '../../form.ts'
import { listingOf, olderPath } from '../../listing.ts'
import { outcomeOf } from '../../outcome.ts'
import { page, seeOther } from '../../page.ts'
import { signedIn, visitOf } from '../../visit.ts'
import { installPath, installsPath, livePath, testPath } from './paths.ts'
import { QuestionPage } from './question-page.tsx'

const fields = formFields({ scopes: Type.String(), place: Type.String() })
type Answer = { readonly scopes: string; readonly place: string }

/** What cursors are named after, and the parameter. */
const [list, param] = ['install-places', 'places'] as const

/** An app that asks to be installed, and the owner's yes. The ticket binds that yes to the scopes that were shown. */
export const questionRoutes = (door: Door) =>
  new Elysia()
    .use(signedIn(door))
    .use(forms(door, { bound: ['scopes'] }))
    .get(livePath(':slug'), async ({ request, params: { slug } }) => await ask(door, request, slug, 'production', null))
    .get(
      testPath(':slug'),
      async ({ request, params: { slug } }) => await ask(door, request, slug, 'development', null),
    )
    .post(
      livePath(':slug'),
      async ({ request, params: { slug }, body }) => await install(door, request, slug, 'production', body),
      { body: fields },
    )
    .post(
      testPath(':slug'),
      async ({ request, params: { slug }, body }) => await install(door, request, slug, 'development', body),
      { body: fields },
    )

const ask = async (
  door: Door,
  request: Request,
  slug: string,
  environment: Environment,
  error: PlatformError | null,
): Promise<Response> => {
  const visit = visitOf(request)
  const { cursor } = listingOf(list, request, param)
  const question = await prepareInstall(door.platform, visit.session, slug, environment, cursor)
  if (question === null) throw refuse('route_not_found')
  const { installApproval } = door.platform
  const more = olderPath(installPath(slug, environment), list, question.places.nextCursor, {}, param)
  return page(<QuestionPage visit={visit} question={question} more={more} approval={installApproval} error={error} />, {
    refusal: error,
  })
}

const install = async (
  door: Door,
  request: Request,
  slug: string,
  environment: Environment,
  { scopes, place }: Answer,
): Promise<Response> => {
  const { session, trace } = visitOf(request)
  // Asked before the ticket is spent: whoever may not leaves nothing behind.
  const mine = environment === 'development' ? { may: ownsApp(session.user.id, slug) } : {}
  const acting = actingAs(door.platform, trace, session, { ...mine, ticket: ticketOf(request) })
  const actor = { kind: 'user', id: session.user.id } as const
  const [kindText, resourceSlug = ''] = place.split(' ')
  const kind = resourceKinds.find((name) => name === kindText)
  if (kind === undefined) throw refuse('invalid_request', { param: 'place' })
  const agreedTo = parseStoredScope(scopes)
  const input = { slug, userEmail: session.user.email, kind, resourceSlug, environment, agreedTo }
  const outcome = await outcomeOf(createInstall(acting, trace, actor, input))
  if (outcome.kind === 'refused') return await ask(door, request, slug, environment, outcome.error)
  return seeOther(`${installsPath}?done=${outcome.value.approval}`)
}

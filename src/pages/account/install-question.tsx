import type { Environment } from '../../domain/app.ts'
import { refuse } from '../../domain/errors.ts'
import { badInput } from '../../operations/decide.ts'
import { type ResourceKind, resourceKinds } from '../../domain/resource.ts'
import { formatScope, parseStoredScope } from '../../domain/scope.ts'
import { mayInApp } from '../../operations/acting-as.ts'
import { createInstall, type InstallQuestion, prepareInstall } from '../../operations/installs/installs.ts'
import { formPage, routes } from '../change.tsx'
import { AboutApp } from '../app-facts.tsx'
import { Avatar } from '../design/avatar.tsx'
import { Badge } from '../design/badge.tsx'
import { SendOrCancel, Form } from '../design/form.tsx'
import { ScopeList } from '../design/scopes.tsx'
import { Older } from '../design/table.tsx'
import { formOf, text } from '../form.ts'
import { BackToBuilder, Layout } from '../design/shell.tsx'
import { ChosenName } from '../design/values.tsx'
import { page, seeOther } from '../page.ts'
import { listPart, olderPath } from '../query.ts'
import { always, type Visit } from '../visit.ts'
import { resourceKindInSentence } from '../words.ts'
import {
  installLivePath,
  installPath,
  installTestPath,
  isApprovedAtOnce,
  resourceKindsFor,
} from '../../domain/install.ts'
import { accountPaths } from './account-page.tsx'
import { readCatalogue } from '../../operations/scopes/scopes.ts'

/** The ticket binds the agreement to the scopes that the page showed. */
const installForm = formOf({ scopes: text, place: text }, ['scopes'])

/** The name in its cursors, and their parameter. */
const [list, param] = ['install-places', 'places'] as const

/** The question whether to install an app, and the owner's agreement. */
export const installQuestionRoutes = routes(() => [
  installing(installLivePath(':slug'), 'production'),
  installing(installTestPath(':slug'), 'development'),
])

const installing = (path: '/apps/:slug/install' | '/apps/:slug/test', environment: Environment) =>
  formPage(path, {
    by: 'user',
    effect: 'decides for oneself',
    form: installForm,
    show: async (visit, { slug }) => await ask(visit, slug, environment),
    act: async ({ visit, fields, ticket }, { slug }) => {
      // Only a member may test an app. This rule is checked before the ticket is spent.
      const may = environment === 'development' ? mayInApp(slug, 'view') : always
      const [kindText, resourceSlug = ''] = fields.place.split(' ')
      const kind = resourceKinds.find((name) => name === kindText)
      if (kind === undefined) throw badInput('place', 'Choose a website or a store from the list.')
      const agreedTo = parseStoredScope(fields.scopes)
      const input = { slug, userId: visit.userId, kind, resourceSlug, environment, agreedTo }
      const { approval } = await visit.as(may, ticket).do(createInstall, input)
      return seeOther(`${accountPaths.installs}?done=${approval}`)
    },
  })

/** Shows what an owner needs to know before they install an app. The app's name is inside a sentence of ours. */
const ask = async (visit: Visit, slug: string, environment: Environment) => {
  const { platform } = visit.door
  const { cursor } = listPart(visit, list, param)
  const question = await prepareInstall(platform, visit.session, slug, environment, cursor)
  if (question === null) throw refuse('route_not_found')
  const more = olderPath(installPath(slug, environment), list, question.places.nextCursor, param)
  const { app } = question
  return page(
    <Layout title="Install this app?" visit={visit} section="apps" width="narrow">
      <div class="asker">
        <Avatar id={app.id} name={app.name} icon={app.icon} />
        <div>
          <p>
            <ChosenName name={app.name} />
          </p>
          <p class="muted">
            Published by <bdi>{app.publisher}</bdi>, version <code>{app.version}</code>
          </p>
          {environment === 'development' ? (
            <p>
              <Badge tone="waiting">Test of your own app: the development head, not reviewed</Badge>
            </p>
          ) : null}
          <AboutApp facts={question.facts} />
        </div>
      </div>
      <h2>It may</h2>
      <ScopeList catalogue={await readCatalogue(platform)} scopes={app.scopes} />
      <h2>Good to know</h2>
      <ul>
        <li>
          {isApprovedAtOnce(platform.installApproval, environment)
            ? 'The app starts working right away.'
            : 'An operator has to approve the install. Until then the app can do nothing.'}
        </li>
        <li>If a later version asks for more, you are asked again. Nothing changes until you agree.</li>
        <li>
          You can uninstall it at any time, under <a href={accountPaths.installs}>Installs</a> in your account.
        </li>
      </ul>
      <PlaceForm visit={visit} question={question} />
      <Older href={more} name="More websites and stores" />
    </Layout>,
  )
}

/** Why somebody cannot install an app for these kinds of places. */
export const noPlace = (kinds: readonly ResourceKind[]): string =>
  kinds.length === 1
    ? `This app is for ${kinds[0] === 'store' ? 'stores' : 'websites'}, and you have none.`
    : 'You have no website or store to install an app on.'

type PlaceFormProps = { readonly visit: Visit; readonly question: InstallQuestion }

const PlaceForm = ({ visit, question: { app, environment, places, installedOn } }: PlaceFormProps) => {
  if (places.data.length === 0) {
    return installedOn === 0 ? (
      <>
        <p>{noPlace(resourceKindsFor(app.scopes))}</p>
        <BackToBuilder builder={visit.door.platform.builder} />
      </>
    ) : (
      <p>
        {places.nextCursor === null ? 'All your websites and stores have it already.' : 'These have it already.'} See{' '}
        <a href={accountPaths.installs}>your installs</a>.
      </p>
    )
  }
  const scopes = formatScope(app.scopes)
  const isAtFault = visit.refused?.error?.facts.param === 'resource'
  return (
    <Form action={installPath(app.slug, environment)} visit={visit} bound={[scopes]}>
      <input type="hidden" name="scopes" value={scopes} />
      <div class="field">
        <label for="place">Install it on</label>
        <select
          id="place"
          name="place"
          aria-invalid={isAtFault ? 'true' : undefined}
          autofocus={isAtFault || undefined}
        >
          {places.data.map(({ kind, slug, name }) => (
            <option key={`${kind} ${slug}`} value={`${kind} ${slug}`}>
              {`${name} (${resourceKindInSentence(kind)} ${slug})`}
            </option>
          ))}
        </select>
      </div>
      <SendOrCancel button="Agree and install" back={accountPaths.installs} />
    </Form>
  )
}

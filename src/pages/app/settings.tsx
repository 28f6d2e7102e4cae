import { type TProperties, Type } from '@sinclair/typebox'
import { refuse } from '../../domain/errors.ts'
import type { ScopeCatalogue } from '../../domain/scope.ts'
import { mayInActiveApp, mayInApp, mayRename, maySetPublisher, nameIsReviewed } from '../../operations/acting-as.ts'
import { type LiveAbout, readAbout } from '../../operations/apps/lists.ts'
import { changeAppScopes, letSecretsRollBack, renameApp, setListed, setPublisher } from '../../operations/apps/apps.ts'
import { giveScope, readCatalogue, takeScope } from '../../operations/scopes/scopes.ts'
import { linksOf, OutLink } from '../app-facts.tsx'
import { changed, formPage, routes } from '../change.tsx'
import { Fields, line, SelectField } from '../design/field.tsx'
import { ButtonForm, Form, SendButton } from '../design/form.tsx'
import { Row, RowList } from '../design/row-list.tsx'
import { ScopeChoice, wordsOf } from '../design/scopes.tsx'
import { Facts } from '../design/values.tsx'
import { reviewPath, scopePath } from '../desk/desk-page.tsx'
import { formOf, type FormShape, type Submission, text, texts } from '../form.ts'
import { page, seeOther } from '../page.ts'
import { type Effect, proveFirst } from '../proof.ts'
import { StepButton, StepLinks } from '../step.tsx'
import type { Visit } from '../visit.ts'
import {
  acting,
  addressIn,
  Allowed,
  appFor,
  AppPage,
  type AppPlace,
  type AppVisit,
  type AtApp,
  pageOfApp,
  stepsBelow,
} from './app-area.tsx'
import { ownerSteps } from './app-steps.tsx'

type Slug = { readonly slug: string }

/** Says what the publisher is for, also where the form of a new app asks for it. */
export const publisherHint =
  'The person or company that publishes the app. Everybody can read it in the directory of apps. Without it, people who are signed in see the name of the account that owns the app.'

const nameForm = formOf({
  name: line('Name', { hint: 'Users see this name the next time the app asks for their consent.' }),
})
const givenForm = formOf({ scope: text })
const listingForm = formOf({ directory: Type.Union([Type.Literal('hidden'), Type.Literal('shown')]) })
const publisherForm = formOf({ publisher: line('Publisher', { hint: publisherHint, required: false }) })
const rollbackForm = formOf({ secrets: Type.Union([Type.Literal('allowed'), Type.Literal('refused')]) })

/** What about an app can be changed, besides what has a page of its own. */
export const appSettingRoutes = (place: AppPlace) =>
  routes(() => [
    pageOfApp(place, 'settings', settingsPage),
    setting(place, 'name', 'renames', nameForm, async ({ visit, fields: { name } }, slug) => {
      await acting(visit, mayRename(slug)).do(renameApp, { slug, name })
      return 'name'
    }),
    setting(place, 'publisher', 'renames', publisherForm, async ({ visit, fields: { publisher } }, slug) => {
      await acting(visit, maySetPublisher(slug)).do(setPublisher, { slug, publisher })
      return 'publisher'
    }),
    setting(place, 'rollback-rule', 'gives a right', rollbackForm, async ({ visit, fields: { secrets } }, slug) => {
      const input = { slug, areAllowed: secrets === 'allowed' }
      await acting(visit, mayInApp(slug, 'rollbackRule')).do(letSecretsRollBack, input)
      return 'rollback'
    }),
  ])

/** The address of a form on that page. It answers which of the sentences of the page is shown then. */
const setting = <const Below extends string, T extends TProperties>(
  place: AppPlace,
  below: Below,
  effect: Effect,
  form: FormShape<T>,
  act: (submission: Submission<T>, slug: string) => Promise<keyof typeof settingsNotices>,
) =>
  changed(place.pattern(below), {
    by: place.by,
    effect,
    form,
    show: showSettings,
    act: async (submission, { slug }) =>
      seeOther(`${place.path(slug, 'settings')}?done=${await act(submission, slug)}`),
  })

/** Whether development secrets may roll back production, and the button that changes it. */
const RollbackRule = ({ at }: AtApp) => {
  const { secretsRollBack } = at.app
  return (
    <>
      <h2>Rollbacks of production</h2>
      <p>
        {secretsRollBack
          ? 'Everybody who has a development secret can roll back production, which changes what all users get.'
          : 'Development secrets cannot roll back production. Members can do it on the pages of the app.'}{' '}
        Owners get a mail about each rollback.
      </p>
      <Allowed at={at} right="rollbackRule">
        <ButtonForm
          action={at.path('rollback-rule')}
          visit={at.visit}
          hidden={{ secrets: secretsRollBack ? 'refused' : 'allowed' }}
          asks={proveFirst(at.visit)}
        >
          {secretsRollBack ? 'Keep development secrets from it' : 'Let development secrets do it'}
        </ButtonForm>
      </Allowed>
    </>
  )
}

/** `isKnown` if users know the app by its name: then members read why they cannot change it. In a suspended app they change neither. */
const NameForms = ({ at, isKnown }: AtApp & { readonly isKnown: boolean }) => {
  const { name, publisher, status } = at.app
  const isSuspended = at.as === 'member' && status === 'suspended' // the page says so at its top
  const isFixed = isSuspended || (at.as === 'member' && isKnown)
  return (
    <Allowed at={at} right="settings">
      {isFixed ? (
        <>
          <Facts of={{ Name: <bdi>{name}</bdi>, Publisher: publisher === null ? null : <bdi>{publisher}</bdi> }} />
          {isKnown ? <p class="muted">{nameIsReviewed}</p> : null}
        </>
      ) : (
        <Form action={at.path('name')} visit={at.visit}>
          <Fields of={nameForm} values={{ name }} />
          <button type="submit">Rename the app</button>
        </Form>
      )}
      {isSuspended || (isFixed && publisher !== null) ? null : (
        <Form action={at.path('publisher')} visit={at.visit}>
          <Fields of={publisherForm} values={{ publisher: publisher ?? '' }} />
          <button type="submit">Save the publisher</button>
        </Form>
      )}
    </Allowed>
  )
}

/** Whether the directory has the app, and the button that changes it. */
const Listing = ({ at: { app, path, visit } }: AtApp) => (
  <>
    <h2>Directory of apps</h2>
    <p>
      {app.isListed
        ? 'The directory shows this app to everybody while it is active and has a live version.'
        : 'This app is hidden from the directory. It works, and people can install it by a link.'}
    </p>
    <ButtonForm
      action={path('settings', 'listing')}
      visit={visit}
      hidden={{ directory: app.isListed ? 'hidden' : 'shown' }}
    >
      {app.isListed ? 'Hide it from the directory' : 'Show it in the directory'}
    </ButtonForm>
  </>
)

/** What only operators change on that page. */
export const deskAppSettingRoutes = (place: AppPlace) =>
  routes(() => [
    setting(place, 'settings/given-scopes', 'gives scopes to an app', givenForm, async ({ visit, fields }, slug) => {
      await acting(visit, mayInApp(slug, 'settings')).do(giveScope, { slug, name: fields.scope })
      return 'given'
    }),
    setting(place, 'settings/listing', 'renames', listingForm, async ({ visit, fields: { directory } }, slug) => {
      await acting(visit, mayInApp(slug, 'settings')).do(setListed, { slug, isListed: directory === 'shown' })
      return directory
    }),
    scopeTaking.routes,
  ])

const showSettings = async (visit: Visit, { slug }: Slug): Promise<Response> =>
  await settingsPage(await appFor(visit, slug))

const settingsPage = async (at: AppVisit): Promise<Response> => {
  const { platform } = at.visit.door
  const about = await readAbout(platform, at.app.id)
  return page(
    <AppPage at={at} tab="settings" title="Settings" notices={settingsNotices}>
      <h2>Name and publisher</h2>
      <NameForms at={at} isKnown={about !== null} />
      <About at={at} about={about} />
      {at.as === 'member' ? null : <Listing at={at} />}
      <RollbackRule at={at} />
      {at.as === 'member' ? (
        <DangerZone at={at} />
      ) : (
        <>
          <GivenScopes at={at} catalogue={await readCatalogue(platform)} />
          <h2>More</h2>
          <RowList
            rows={[
              ['redirect-uris', 'Redirect URIs', 'The addresses that users return to.'] as const,
              ['scopes', 'Scopes', 'What the app may ask for.'] as const,
            ]}
            row={([path, name, about]) => <Row key={path} href={at.path(path)} title={name} facts={[about]} />}
          />
        </>
      )}
    </AppPage>,
  )
}

/** What the live version says of the app. Nobody edits it here, because operators review it. */
const About = ({ at, about }: AtApp & { readonly about: LiveAbout | null }) => (
  <>
    <h2>Description and addresses</h2>
    {about === null ? null : (
      <Facts
        of={{
          Description: about.facts.description === null ? <NotSaid /> : <bdi>{about.facts.description}</bdi>,
          ...Object.fromEntries(
            Object.entries(linksOf(about.facts)).map(([name, href]) => [
              name,
              href === null ? <NotSaid /> : <OutLink href={href}>{href}</OutLink>,
            ]),
          ),
        }}
      />
    )}
    <p class="muted">
      {about === null ? 'Nothing is live yet. They' : 'They'} come from <a href={appJsonGuide}>app.json</a> of{' '}
      {about === null ? 'the first version that goes live' : <VersionName at={at} version={about.version} />}, and are
      reviewed with it.
      {at.as === 'operator' ? null : (
        <>
          {' '}
          To change them, <a href={at.path('versions', 'new')}>upload a version</a>.
        </>
      )}
    </p>
  </>
)

const appJsonGuide = '/docs/guides/command-line#the-manifest-appjson'

const VersionName = ({ at, version }: AtApp & { readonly version: string }) => (
  <>
    <a href={at.as === 'operator' ? reviewPath(at.app.slug, version) : at.path('versions', version)}>{version}</a>, the
    live version
  </>
)

const NotSaid = () => <span class="muted">Not given</span>

/** What cannot be taken back. Operators have it on the first page of the app, which also a deleted one has. */
const DangerZone = ({ at }: AtApp) => (
  <section class="gravest" aria-labelledby="danger">
    <h2 id="danger">Danger zone</h2>
    <Allowed at={at} right="transfer">
      <StepLinks visit={at.visit} steps={ownerSteps} of={at} params={{ slug: at.app.slug }} />
    </Allowed>
  </section>
)

const toSettings = ['settings', 'Settings'] as const

const scopeTaking = stepsBelow('settings', toSettings, (at) => ({ at }), ['desk'])('given-scopes/take', {
  link: ['Take back'],
  effect: 'takes scopes from an app',
  form: formOf({ scope: text }),
  ask: async ({ door }, { at: { app } }, _, given) => {
    const name = app.givenScopes.find((each) => each === given('scope'))
    if (name === undefined) throw refuse('route_not_found')
    const words = wordsOf(await readCatalogue(door.platform), name)
    return {
      title: 'Take this scope back?',
      says: (
        <p>
          The app, its grants and its live tokens do not have <code>{name}</code> (<bdi>{words}</bdi>) any more, at
          once. Grants without another scope end.
        </p>
      ),
      button: 'Take the scope back',
      fields: <input type="hidden" name="scope" value={name} />,
    }
  },
  act: async ({ visit, fields: { scope: name } }, _, { slug }) =>
    await acting(visit, mayInApp(slug, 'settings')).do(takeScope, { slug, name }),
  done: { taken: 'The app, its grants and its tokens do not have the scope any more.' },
})

const settingsNotices = {
  name: 'The app is renamed.',
  publisher: 'The publisher is changed.',
  rollback: 'The rule for rollbacks of production is changed.',
  hidden: 'The app is hidden from the directory.',
  shown: 'The directory shows the app.',
  given: 'The app may register the scope now.',
  ...scopeTaking.done,
} as const

/** Restricted scopes of the operator, which an app can register only after it was given them. */
const GivenScopes = ({ at, catalogue }: AtApp & { readonly catalogue: ScopeCatalogue }) => {
  const { visit, app } = at
  const { slug, givenScopes } = app
  const others = [...catalogue].filter(
    ([name, { availability, callers }]) =>
      availability === 'restricted' && callers.length > 0 && !givenScopes.some((given) => given === name),
  )
  if (givenScopes.length === 0 && others.length === 0) return null
  return (
    <>
      <h2>Restricted scopes</h2>
      <RowList
        label="Restricted scopes"
        rows={givenScopes}
        row={(name) => (
          <Row
            key={name}
            href={scopePath(name)}
            title={<code>{name}</code>}
            facts={[<bdi>{wordsOf(catalogue, name)}</bdi>]}
            actions={
              <StepButton
                visit={visit}
                step={scopeTaking}
                of={{ at }}
                params={{ slug }}
                query={{ scope: name }}
                look="small"
              >
                {' '}
                {name}
              </StepButton>
            }
          />
        )}
        empty={<p class="muted">This app was given no restricted scope.</p>}
      />
      {others.length === 0 ? null : (
        <Form action={at.path('settings', 'given-scopes')} visit={visit} class="measure" asks={proveFirst(visit)}>
          <SelectField
            label="Give it a restricted scope"
            name="scope"
            hint="The app can register it then. It does not have it before."
            options={others.map(([name, { words }]) => [name, `${name}: ${words}`] as const)}
          />
          <button type="submit">Give the scope</button>
        </Form>
      )}
    </>
  )
}

/** The scopes that an app may ask for. */
export const appScopeRoutes = (place: AppPlace) =>
  formPage(place.pattern('scopes'), {
    by: place.by,
    effect: 'gives scopes to an app',
    isPartOfPage: true,
    form: formOf({ scopes: texts }),
    show: async (visit, { slug }) => {
      const at = await appFor(visit, slug)
      return page(
        <AppPage at={at} tab="scopes" title="Scopes" notices={scopesSaved}>
          <Form action={at.path('scopes')} visit={visit} asks={proveFirst(visit)}>
            <ScopeChoice
              catalogue={await readCatalogue(visit.door.platform)}
              chosen={at.app.scopes}
              given={at.app.givenScopes}
            />
            <Allowed at={at} right="settings">
              <SendButton>Save the scopes</SendButton>
            </Allowed>
          </Form>
          <h2>What a change does</h2>
          <Facts of={effects} />
        </AppPage>,
      )
    },
    act: async ({ visit, fields: { scopes } }, { slug }) => {
      await acting(visit, mayInActiveApp(slug, 'settings')).do(changeAppScopes, { slug, scopes: scopes.join(' ') })
      return seeOther(`${addressIn(visit, slug, 'scopes')}?done=scopes`)
    },
  })

const scopesSaved = { scopes: 'The scopes are saved.' } as const

/** A test checks that these sentences are true. */
const effects = {
  'When you add a scope':
    'The app may ask for it from now on. No user has granted it yet: each user is asked again, with the new scope marked.',
  'When you withdraw a scope':
    'App tokens, consent requests and new versions can no longer ask for it. What was granted before stays: an app ' +
    'token keeps the scope until it expires, at most an hour later. A user’s access keeps it, even when it is ' +
    'refreshed, until the user or the app revokes it, or it expires unused.',
  Versions: 'Each version keeps the scopes that it was uploaded with.',
}

import { formPage, routes, secretShownBefore } from '../change.tsx'
import { type WebhookKind, webhookKinds } from '../../domain/webhook-event.ts'
import { eventData } from '../../http/contract/events.ts'
import type { Rule } from '../../operations/acting-as.ts'
import { mayInActiveApp, refusalOfRole } from '../../operations/acting-as.ts'
import {
  addEndpoint,
  changeEndpoint,
  type EndpointRecord,
  ownsEndpoint,
  readEndpoint,
} from '../../operations/webhooks/endpoints.ts'
import { EnvironmentBadge } from '../design/badge.tsx'
import { Details } from '../design/values.tsx'
import { endpointUrl, takeOutgoingShare } from '../endpoints.tsx'
import { Choice, ChoiceList, ChoiceSet, Fields } from '../design/field.tsx'
import { SendOrCancel, Form } from '../design/form.tsx'
import { formOf, sentTo, texts, valuesIn } from '../form.ts'
import type { KeptForm } from '../kept-form.ts'
import { page, seeOther } from '../page.ts'
import { showOnce } from '../secret-page.tsx'
import type { Visit } from '../visit.ts'
import {
  acting,
  addressIn,
  appFor,
  AppPage,
  type AppVisit,
  environmentField,
  inEnvironment,
  type AppPlace,
} from './app-area.tsx'
import { endpointCrumb } from './webhooks.tsx'

const fields = { url: endpointUrl, groups: texts, kinds: texts } as const
const newEndpointForm = formOf({ environment: environmentField, ...fields })
const endpointForm = formOf(fields)

/** The forms that add a webhook endpoint and change its URL and kinds of events. */
export const newEndpointRoutes = (place: AppPlace) =>
  routes(() => [
    formPage(place.pattern('webhooks/new'), {
      sentTo: place.pattern('webhooks'),
      by: place.by,
      effect: 'gives a secret',
      form: newEndpointForm,
      show: async (visit, { slug }) => ask(await appFor(visit, slug), { endpoint: null, url: '', kinds: [] }),
      act: async ({ visit, fields, ticket }, { slug }) => {
        await mayCallOut(visit, slug)
        const { environment, url } = fields
        const input = { slug, environment, url, kinds: chosenKinds(fields) }
        const { id, secret } = await acting(visit, mayInActiveApp(slug, 'webhooks'), ticket).do(addEndpoint, input)
        return showOnce(visit, addressIn(visit, slug, 'webhooks', id, 'secret'), secret)
      },
      again: (_, { slug }) => ({
        section: place.key,
        message: secretShownBefore('rotate it'),
        href: place.path(slug, 'webhooks'),
        name: 'See the webhooks',
      }),
    }),
    formPage(place.pattern('webhooks/:id/edit'), {
      by: place.by,
      effect: 'sends events elsewhere',
      form: endpointForm,
      show: async (visit, { slug, id }) => {
        const at = await appFor(visit, slug)
        const endpoint = await readEndpoint(visit.door.platform, at.app.id, id)
        return ask(inEnvironment(at, endpoint.environment), { ...endpoint, endpoint })
      },
      // The change says nothing that a second sending would repeat wrongly, so the form need not act only once.
      act: async ({ visit, fields }, { slug, id }) => {
        const { app } = await mayCallOut(visit, slug)
        await readEndpoint(visit.door.platform, app.id, id)
        const may = allOf(mayInActiveApp(slug, 'webhooks'), ownsEndpoint({ slug, id }, 'webhooks'))
        await acting(visit, may).do(changeEndpoint, { id, url: fields.url, kinds: chosenKinds(fields) })
        return seeOther(`${place.path(slug, 'webhooks', id)}?done=changed`)
      },
    }),
  ])

/** Asked first, so that nobody without the right can make this server look up host names. @throws right_missing, rate_limited */
const mayCallOut = async (visit: Visit, slug: string): Promise<AppVisit> => {
  const at = await appFor(visit, slug)
  const refusal = refusalOfRole(at.app.role, 'webhooks')
  if (refusal !== null) throw refusal
  takeOutgoingShare(visit)
  return at
}

type EndpointValues = {
  /** Null for a new endpoint. */
  readonly endpoint: EndpointRecord | null
  readonly url: string
  readonly kinds: readonly string[]
}

const ask = (at: AppVisit, values: EndpointValues): Response => {
  const { visit, environment } = at
  const { endpoint } = values
  const isNew = endpoint === null
  const crumbs = isNew ? [] : [endpointCrumb(at, endpoint)]
  const action = at.path('webhooks', ...(isNew ? [] : [endpoint.id, 'edit']))
  const { kept, refused } = visit
  const shown = { ...visit, kept: kept.map(withoutGroups), ...(refused && { refused: withoutGroups(refused) }) }
  const typed = sentTo(shown, action)
  return page(
    <AppPage
      at={at}
      tab="webhooks"
      title={isNew ? 'Add a webhook endpoint' : 'Edit the webhook endpoint'}
      badges={<EnvironmentBadge environment={environment} />}
      about={isNew ? undefined : 'The signing secret stays the same. Waiting events are sent to the new URL.'}
      crumbs={crumbs}
    >
      <Form action={action} visit={shown} {...(isNew ? { hidden: { environment } } : {})}>
        <Fields of={endpointForm} values={{ url: values.url }} />
        <p class="muted">
          <a href="/docs/guides/first-app#on-your-own-machine">Webhooks on your own machine</a>
        </p>
        <ChoiceSet legend="Events" name="kinds">
          <Choice
            type="checkbox"
            name="groups"
            value="all"
            checked={false}
            about="Every kind, including those that later releases add."
          >
            All events
          </Choice>
          {groups.map((group) => (
            <KindGroup key={group} group={group} chosen={typed === null ? values.kinds : valuesIn(typed['kinds'])} />
          ))}
        </ChoiceSet>
        <SendOrCancel
          button={isNew ? 'Add the endpoint' : 'Save the changes'}
          back={at.path('webhooks', ...(isNew ? [] : [endpoint.id]))}
        />
      </Form>
    </AppPage>,
  )
}

/** The name of each group of kinds, and what it is about. */
const groupWords = {
  install: ['Install events', 'An install is requested, decided or ended.'],
  grant: ['Consent events', 'Users grant the app access, or revoke it.'],
  version: ['Version events', 'Versions are submitted, reviewed and go live.'],
  credential: ['Client secret events', 'Secrets are created, rotated and revoked.'],
  app: ['App events', 'An operator suspends or activates the app.'],
  webhook: ['Webhook events', ''],
  api_version: ['API events', ''],
  ping: ['Pings', ''],
} as const

type Group = keyof typeof groupWords
const isGroup = (text: string): text is Group => Object.hasOwn(groupWords, text)
const groupOf = (kind: WebhookKind): string => kind.split('.')[0] ?? ''
const kindsOf = (group: string): readonly WebhookKind[] =>
  webhookKinds.filter((kind) => group === 'all' || groupOf(kind) === group)
/** In the order of the kinds. */
const groups: readonly Group[] = [...new Set(webhookKinds.map(groupOf))].filter(isGroup)

type KindGroupProps = { readonly group: Group; readonly chosen: readonly string[] }

/**
 * The kinds of one group, and a choice of all of them. That choice is never shown as made, so that a kind can be left out again
 * without the script. The script keeps both together.
 */
const KindGroup = ({ group, chosen }: KindGroupProps) => {
  const kinds = kindsOf(group)
  const count = kinds.filter((kind) => chosen.includes(kind)).length
  const choices = (
    <ChoiceList
      name="kinds"
      options={kinds.map((kind) => [kind, <code>{kind}</code>, eventData.properties[kind].description ?? ''])}
      chosen={chosen}
    />
  )
  if (kinds.length === 1) return choices
  return (
    <>
      <Choice
        type="checkbox"
        name="groups"
        value={group}
        checked={false}
        about={count === 0 ? groupWords[group][1] : `${count} of ${kinds.length} chosen.`}
      >
        {groupWords[group][0]}
      </Choice>
      <Details
        summary={`Choose individual ${groupWords[group][0].toLowerCase()}`}
        open={count > 0 && count < kinds.length}
      >
        {choices}
      </Details>
    </>
  )
}

/** A form that is shown again has the kinds of its groups in their place, so that one can be left out without the script. */
const withoutGroups = <Form extends KeptForm>(form: Form): Form => {
  const [groups, kinds] = [valuesIn(form.values['groups']), valuesIn(form.values['kinds'])]
  return { ...form, values: { ...form.values, groups: [], kinds: chosenKinds({ groups, kinds }) } }
}

/** Every kind that was chosen, alone or with its group. Unknown groups are passed on to be refused like unknown kinds. */
const chosenKinds = (sent: {
  readonly groups: readonly string[]
  readonly kinds: readonly string[]
}): readonly string[] => [
  ...new Set<string>([
    ...sent.kinds,
    ...sent.groups.flatMap((group): readonly string[] =>
      group === 'all' || isGroup(group) ? kindsOf(group) : [group],
    ),
  ]),
]

/** Every rule must hold. */
const allOf =
  (...rules: readonly Rule[]): Rule =>
  async (q, userId, as) => {
    for (const rule of rules) {
      const refusal = await rule(q, userId, as)
      if (refusal !== null) return refusal
    }
    return null
  }

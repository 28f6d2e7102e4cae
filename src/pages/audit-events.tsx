import type { ComponentChildren } from 'preact'
import { visibleJson } from '../domain/text.ts'
import type { Named, Names } from '../operations/audit/names.ts'
import { storedJson } from '../operations/stored-json.ts'
import { type AuditLine, auditSentence, refusalWords } from './audit-words.ts'
import { Avatar } from './design/avatar.tsx'
import { Badge } from './design/badge.tsx'
import { IconTile } from './design/icon.tsx'
import { Ago, Details, Facts, Time } from './design/values.tsx'
import { Nothing } from './design/list-tools.tsx'

/** What the names in the filter of events stand for: each is the first part of some actions. */
const appGroups = {
  app: 'Apps',
  version: 'Versions',
  install: 'Installs',
  credential: 'Secrets',
  redirect_uri: 'Redirect URIs',
  webhook: 'Webhooks',
  grant: 'Grants',
  member: 'Members',
  app_token: 'App tokens',
  authorization_code: 'Codes',
  refresh_token: 'Refresh tokens',
  token: 'Token introspection',
  bearer: 'Rejected tokens',
  install_session_code: 'Frame codes',
  embedded_session: 'Frame sessions',
  api_version: 'API versions',
  audit: 'Exports of events',
  installs: 'Exports of installs',
} as const

/** The groups of events that no app's owner sees. */
const operatorGroups = {
  user_tokens: 'User tokens',
  user: 'Users',
  session: 'Sessions',
  sessions: 'Ended sessions',
  sign_in: 'Sign-in at the builder',
  device: 'Known browsers',
  factor: 'Second factors',
  mail: 'Mails',
  page: 'Refused forms',
  scope: 'Scopes',
  service_key: 'Service keys',
  settings: 'Settings',
  command: 'Commands over the network',
  resource: 'Websites and stores',
  resources: 'Imports of websites and stores',
  database: 'Database',
  condition: 'Problems of servers',
  clock: 'Clock',
  app_tokens: 'Removed app tokens',
  grants: 'Removed grants',
  audit_events: 'Removed events',
  anonymous_refusals: 'Removed refusals',
} as const

/** The options of the filter, with the action of the address if it is another one. */
export const groupsWith = (
  action: string,
  reader: 'operators' | 'members',
): readonly (readonly [group: string, words: string])[] => {
  const groups: Readonly<Record<string, string>> =
    reader === 'members' ? appGroups : { ...appGroups, ...operatorGroups }
  return [
    ...Object.entries(groups),
    ...(action === '' || Object.hasOwn(groups, action) ? [] : [[action, action] as const]),
  ]
}

/** How what the events tell has ended. */
export const outcomes = [
  ['done', 'Done'],
  ['refused', 'Refused'],
] as const

type EventsProps = {
  readonly events: readonly AuditLine[]
  readonly names: Names
  /** The page of a thing; null without one. */
  readonly hrefOf: (named: Named) => string | null
  /** The page of all events of a request, for operators. */
  readonly requestHref?: (requestId: string) => string
  /** The ID of the app that the whole page is about: its name is not said again. */
  readonly pageOfApp?: string
  /** Epoch milliseconds. */
  readonly now: number
  readonly empty: ComponentChildren
  readonly byDay?: boolean
}

/** Events as sentences, with their IDs and their JSON behind a line that opens them. */
export const AuditEvents = ({
  events,
  names,
  hrefOf,
  requestHref,
  pageOfApp,
  now,
  empty,
  byDay = false,
}: EventsProps) => (
  <Timeline
    label="Events"
    byDay={byDay}
    now={now}
    empty={empty}
    events={events.map((event) => ({
      at: event.at,
      avatar: <ActorAvatar event={event} names={names} />,
      words: <Sentence event={event} names={names} hrefOf={hrefOf} pageOfApp={pageOfApp} />,
      ...(event.address === null ? {} : { actor: event.address }),
      details: <EventDetails event={event} requestHref={requestHref} />,
    }))}
  />
)

type SentenceProps = Pick<EventsProps, 'names' | 'hrefOf'> & {
  readonly event: AuditLine
  readonly pageOfApp: string | undefined
}

const Sentence = ({ event, names, hrefOf, pageOfApp }: SentenceProps) => {
  const refusal = refusalWords(event)
  return (
    <>
      {auditSentence(event, names, pageOfApp).map((word) => {
        if (typeof word === 'string') return word
        const href = word.of === null ? null : hrefOf(word.of)
        return href === null ? (
          <Clipped class="named" name={word.text} />
        ) : (
          <a href={href}>
            <Clipped name={word.text} />
          </a>
        )
      })}
      {refusal === null ? null : (
        <>
          {' '}
          <Badge tone="bad">Refused</Badge> <span class="muted">{refusal}</span>
        </>
      )}
    </>
  )
}

/** A longer name would hide the sentence. The title has it whole. */
const longestName = 60

const Clipped = ({ name, class: style }: { readonly name: string; readonly class?: string }) =>
  name.length <= longestName ? (
    <bdi class={style}>{name}</bdi>
  ) : (
    <bdi class={style} title={name}>{`${[...name].slice(0, longestName).join('')}…`}</bdi>
  )

const ActorAvatar = ({ event, names }: { readonly event: AuditLine; readonly names: Names }) => {
  const actor = names.get(event.actorId ?? '') ?? (event.actorKind === 'app' ? names.get(event.appId ?? '') : undefined)
  return actor === undefined ? (
    <IconTile name={event.actorKind === 'user' || event.actorKind === 'anonymous' ? 'user' : 'code'} small />
  ) : (
    <Avatar id={actor.kind === 'app' ? (event.appId ?? actor.id) : actor.id} name={actor.name} small />
  )
}

type DetailsProps = { readonly event: AuditLine; readonly requestHref: EventsProps['requestHref'] }

const EventDetails = ({ event, requestHref }: DetailsProps) => (
  <>
    <Facts
      of={{
        Time: <Time at={event.at} />,
        Event: <code>{event.action}</code>,
        Outcome: event.reason === null ? event.outcome : <code>{`${event.outcome}: ${event.reason}`}</code>,
        Actor: <code>{event.actorId === null ? event.actorKind : `${event.actorKind} ${event.actorId}`}</code>,
        Address: event.address,
        Target: event.target && <code>{event.target}</code>,
        Environment: event.environment,
        Request:
          requestHref === undefined ? (
            <code>{event.requestId}</code>
          ) : (
            <a href={requestHref(event.requestId)} title="All events of this request">
              <code>{event.requestId}</code>
            </a>
          ),
        ID: <code>{event.id}</code>,
      }}
    />
    {event.detail === null ? null : (
      <pre tabIndex={0} role="region" aria-label="Detail">
        <code>{visibleJson(storedJson<unknown>(event.detail))}</code>
      </pre>
    )}
  </>
)

type TimelineEvent = {
  readonly at: number
  /** A sentence, such as `Ada activated 3.0.0 of Newsletter`. */
  readonly words: ComponentChildren
  /** Who did it, where the sentence does not say so. */
  readonly actor?: ComponentChildren
  /** An `Avatar`. */
  readonly avatar?: ComponentChildren
  /** IDs and JSON. */
  readonly details?: ComponentChildren
}

type TimelineProps = {
  readonly events: readonly TimelineEvent[]
  readonly empty?: ComponentChildren
  readonly label?: string | undefined
  /** Epoch milliseconds: times are told as `2 h ago`. Without it they are told exactly. */
  readonly now?: number | undefined
  /** Under their days. */
  readonly byDay?: boolean
}

/** What happened, newest first. */
export const Timeline = ({ events, empty, label, now, byDay = false }: TimelineProps) => {
  if (events.length === 0) return <Nothing words={empty} />
  if (!byDay) return <Events events={events} label={label} now={now} />
  const days = Map.groupBy(events, ({ at }) => new Date(at).toISOString().slice(0, 10))
  return (
    <div class="timeline-days" role="group" aria-label={label}>
      {[...days].map(([day, ofDay]) => (
        <>
          <p class="timeline-day" id={`day-${day}`}>
            {dayInWords(day)}
          </p>
          <Events events={ofDay} now={now} labelledBy={`day-${day}`} />
        </>
      ))}
    </div>
  )
}

/** The script puts the events under the days of the reader's own time zone. */
const dayInWords = (day: string): string =>
  `${new Date(day).toLocaleDateString('en-GB', { dateStyle: 'full', timeZone: 'UTC' })} (UTC)`

type DayProps = Pick<TimelineProps, 'events' | 'label' | 'now'> & { readonly labelledBy?: string }

const Events = ({ events, label, now, labelledBy }: DayProps) => (
  <ol class="timeline" aria-label={label} aria-labelledby={labelledBy}>
    {events.map(({ at, words, actor, avatar, details }) => (
      <li>
        {avatar ?? <span class="timeline-dot" aria-hidden="true" />}
        <div class="timeline-main">
          <p class="timeline-words">{words}</p>
          <p class="timeline-facts">
            {actor === undefined ? null : <>{actor} · </>}
            {now === undefined ? <Time at={at} /> : <Ago at={at} now={now} />}
          </p>
          {details === undefined ? null : <Details summary="Details">{details}</Details>}
        </div>
      </li>
    ))}
  </ol>
)

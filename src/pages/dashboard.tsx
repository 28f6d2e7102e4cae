import {
  type AppActivity,
  type Attention,
  type DailyCounts,
  type LatestEvents,
  mostOfEachKind,
} from '../operations/counts/counts.ts'
import type { Named } from '../operations/audit/names.ts'
import { AuditEvents } from './audit-events.tsx'
import { Avatar } from './design/avatar.tsx'
import { Badge, environmentNames } from './design/badge.tsx'
import { Row, RowList } from './design/row-list.tsx'
import { type Series, StatTile, StatTiles } from './design/stat.tsx'
import { Details, Time, TimeFact } from './design/values.tsx'

const number = (value: number): string => value.toLocaleString('en')

const seriesOf = (counts: DailyCounts): Series =>
  counts.map(({ day, count }, index) => ({
    day: new Date(day).toISOString().slice(0, 10),
    value: count,
    isOver: index < counts.length - 1, // the last one is today
  }))

type ActivityProps = {
  readonly activity: AppActivity
  readonly activeInstalls: number
  /** Pages about the installs and the webhooks, if there are such pages. */
  readonly installsHref?: string
  readonly webhooksHref?: string
}

/** What happened in 30 days, as four numbers and lines, and what they mean. */
export const ActivityTiles = ({ activity, activeInstalls, installsHref, webhooksHref }: ActivityProps) => {
  const { byDay, total, latest } = activity
  const [yesterday, today] = byDay.active_users.slice(-2).map(({ count }) => count)
  return (
    <>
      <StatTiles>
        <StatTile
          label="Tokens issued"
          value={number(total.tokens)}
          change={`${number(latest.tokens)} in the last 24 hours`}
          series={seriesOf(byDay.tokens)}
        />
        <StatTile
          label="Active users"
          value={number(today ?? 0)}
          change={`Today. Yesterday: ${number(yesterday ?? 0)}`}
          series={seriesOf(byDay.active_users)}
        />
        <StatTile
          label="New installs"
          value={number(total.installs)}
          change={`${number(activeInstalls)} in use now`}
          series={seriesOf(byDay.installs)}
          {...(installsHref !== undefined && { href: installsHref })}
        />
        <StatTile
          label="Webhook success"
          value={<Success calls={callsOf(total)} failures={total.webhook_failures} />}
          change={callsInWords(callsOf(total), total.webhook_failures)}
          series={successSeries(byDay)}
          {...(webhooksHref !== undefined && { href: webhooksHref })}
        />
      </StatTiles>
      <Details summary="The last 30 days (UTC). How this is counted">
        <p class="muted">
          The numbers are a few minutes old. An access token and its refresh token count as one. An active user is a
          person for whom an app got or refreshed a token that day, or who opened the app in a frame. Each person counts
          once a day for each app and environment. Pings of webhooks are not counted.
        </p>
      </Details>
    </>
  )
}

const callsOf = (of: AppActivity['total']): number => of.webhook_successes + of.webhook_failures

/** Never 100 % while a call failed. */
const percent = (calls: number, failures: number): number => Math.floor(((calls - failures) / calls) * 1000) / 10

const Success = ({ calls, failures }: { readonly calls: number; readonly failures: number }) => (
  <>{calls === 0 ? '–' : `${percent(calls, failures)} %`}</>
)

const callsInWords = (calls: number, failures: number): string => {
  if (calls === 0) return 'No events sent yet'
  return failures === 0 ? `All ${number(calls)} calls accepted` : `${number(failures)} of ${number(calls)} calls failed`
}

/** Days without calls have no share of accepted ones, and are left out. */
const successSeries = ({ webhook_successes, webhook_failures }: AppActivity['byDay']): Series =>
  seriesOf(webhook_successes).flatMap(({ day, value, isOver = true }, index) => {
    const failures = webhook_failures[index]?.count ?? 0
    return value + failures === 0 ? [] : [{ day, value: percent(value + failures, failures), isOver }]
  })

const appPath = (slug: string, page: string): string => `/console/${slug}/${page}`

/** Where an item is mended. */
const attentionPath = (item: Attention): string => {
  switch (item.kind) {
    case 'app_suspended':
      return `/console/${item.slug}`
    case 'cannot_be_authorized':
      return appPath(item.slug, `${item.lacks === 'secret' ? 'credentials' : 'redirect-uris'}?environment=production`)
    case 'webhook_failing':
      return appPath(item.slug, `webhooks/${item.id}`)
    case 'version_rejected':
      return appPath(item.slug, `versions/${encodeURIComponent(item.version)}`)
    case 'secret_ending':
      return appPath(item.slug, `credentials?environment=${item.environment}`)
    default:
      return item satisfies never
  }
}

/** What several items of one kind have in common: the filter of the list of apps, and the sentence about all of them. */
const attentionGroups = {
  suspended: (count) => `${count} apps are suspended by an operator`,
  secret: (count) => `${count} live apps have no production secret`,
  uri: (count) => `${count} live apps have no production redirect URI`,
  webhook: (count) => `${count} webhooks are failing`,
  disabled: (count) => `${count} webhooks were disabled because they failed`,
  rejected: (count) => `${count} versions were rejected`,
  unconfirmed: (count) => `${count} secrets are suspended until an operator confirms them`,
  ending: (count) => `${count} rotated secrets expire soon`,
} as const satisfies Readonly<Record<string, (count: string) => string>>

type AttentionGroup = keyof typeof attentionGroups

/** The words of the filter. */
export const attentionFilter = [
  ['suspended', 'Suspended by an operator'],
  ['secret', 'Live without a production secret'],
  ['uri', 'Live without a production redirect URI'],
  ['webhook', 'With a failing webhook'],
  ['disabled', 'With a webhook that was disabled'],
  ['rejected', 'With a rejected version'],
  ['unconfirmed', 'With a suspended secret'],
  ['ending', 'With a secret that expires soon'],
] as const satisfies readonly (readonly [AttentionGroup, string])[]

/** Which of them an item belongs to. */
export const groupOf = (item: Attention): AttentionGroup => {
  switch (item.kind) {
    case 'app_suspended':
      return 'suspended'
    case 'cannot_be_authorized':
      return item.lacks === 'secret' ? 'secret' : 'uri'
    case 'webhook_failing':
      return item.status === 'disabled' ? 'disabled' : 'webhook'
    case 'version_rejected':
      return 'rejected'
    case 'secret_ending':
      return item.endsAt === null ? 'unconfirmed' : 'ending'
    default:
      return item satisfies never
  }
}

const AttentionWords = ({ item }: { readonly item: Attention }) => {
  switch (item.kind) {
    case 'app_suspended':
      return <>An operator has suspended the app</>
    case 'cannot_be_authorized':
      return item.lacks === 'secret' ? (
        <>The app is live without a production secret</>
      ) : (
        <>The app is live without a production redirect URI</>
      )
    case 'webhook_failing':
      return item.status === 'disabled' ? <>A webhook was disabled because it failed</> : <>A webhook is failing</>
    case 'version_rejected':
      return <>{`Version ${item.version} was rejected`}</>
    case 'secret_ending':
      return item.endsAt === null ? (
        <>A secret is suspended until an operator confirms it</>
      ) : (
        <>A rotated secret expires soon</>
      )
    default:
      return item satisfies never
  }
}

const attentionFacts = (item: Attention) => {
  switch (item.kind) {
    case 'app_suspended':
      return ['Its secrets and tokens do not work']
    case 'cannot_be_authorized':
      return ['Users cannot connect it']
    case 'webhook_failing':
      return [
        new URL(item.url).host,
        environmentNames[item.environment],
        item.since === null ? null : <TimeFact words="Since" at={item.since} />,
      ]
    case 'version_rejected':
      return ['Read the review, and upload a new version', item.at === null ? null : <Time at={item.at} />]
    case 'secret_ending':
      return [
        item.label === null ? null : <bdi>{item.label}</bdi>,
        environmentNames[item.environment],
        item.endsAt === null ? null : <TimeFact words="Expires" at={item.endsAt} />,
      ]
    default:
      return item satisfies never
  }
}

type AttentionListProps = {
  readonly items: readonly Attention[]
  /** Names the app of each item, on a page about several. */
  readonly namesApps: boolean
}

/** More than these are folded, so that the numbers below stay in sight. */
const shownItems = 4

/** What the owner should look at, and nothing if there is nothing. A sentence about several apps is said once, with how many they are. */
export const AttentionList = ({ items: all, namesApps }: AttentionListProps) => {
  const items = namesApps ? [...Map.groupBy(all, groupOf).values()] : all.map((item) => [item])
  const row = (group: readonly Attention[]) =>
    group.map((item) =>
      group.length === 1 ? (
        <AttentionRow item={item} namesApp={namesApps} />
      ) : item === group[0] ? (
        <Row
          href={`/console?${new URLSearchParams({ needs: groupOf(item) }).toString()}`}
          title={attentionGroups[groupOf(item)](
            group.length < mostOfEachKind ? String(group.length) : `${mostOfEachKind} or more`,
          )}
        />
      ) : null,
    )
  const more = items.slice(shownItems)
  return items.length === 0 ? null : (
    <section aria-labelledby="attention" class="attention">
      <h2 id="attention">Needs your attention</h2>
      <RowList rows={items.slice(0, shownItems)} row={row} />
      {more.length === 0 ? null : (
        <Details summary={`${more.length} more`}>
          <RowList rows={more} row={row} label="More that needs your attention" />
        </Details>
      )}
    </section>
  )
}

const AttentionRow = ({ item, namesApp }: { readonly item: Attention; readonly namesApp: boolean }) => (
  <Row
    href={attentionPath(item)}
    avatar={namesApp ? <Avatar id={item.appId} name={item.appName} /> : undefined}
    title={<AttentionWords item={item} />}
    badge={item.kind === 'secret_ending' ? <Badge tone="waiting">Soon</Badge> : undefined}
    facts={[namesApp ? <bdi>{item.appName}</bdi> : null, ...attentionFacts(item)]}
  />
)

type LatestEventsProps = {
  readonly latest: LatestEvents
  readonly now: number
  /** The ID of the app that the page is about. */
  readonly pageOfApp?: string
}

/** The last events of some apps, as sentences that lead to the pages of what they name. */
export const LatestEventList = ({ latest: { events, names }, ...page }: LatestEventsProps) => (
  <AuditEvents events={events} names={names} hrefOf={hrefAmong(names)} {...page} empty="Nothing has happened yet." />
)

const hrefAmong =
  (names: LatestEvents['names']) =>
  (named: Named): string | null => {
    if (named.kind === 'app') return `/console/${named.slug}`
    const app = named.kind === 'version' || named.kind === 'endpoint' ? names.get(named.appId ?? '') : undefined
    if (app?.kind !== 'app') return null
    return appPath(
      app.slug,
      named.kind === 'version' ? `versions/${encodeURIComponent(named.name)}` : `webhooks/${named.id}`,
    )
  }

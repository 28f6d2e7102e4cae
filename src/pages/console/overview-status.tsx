import type { AppOverview } from '../../operations/apps/overview.ts'
import type { VersionSummary } from '../../operations/versions/lists.ts'
import { VersionStatusBadge } from '../design/badge.tsx'
import { Time } from '../design/values.tsx'
import { consoleAppPath } from './own-app.tsx'

type OverviewStatusProps = { readonly slug: string; readonly overview: AppOverview }

const versionCards = [
  {
    which: 'live',
    since: 'activatedAt',
    title: 'Live now',
    otherwise: 'Nothing is live yet. A version goes live after its review.',
  },
  {
    which: 'developmentHead',
    since: 'createdAt',
    title: 'Development head',
    otherwise: 'No version has been uploaded yet.',
  },
  {
    which: 'submitted',
    since: 'submittedAt',
    title: 'Waiting for review',
    otherwise: 'No version is waiting. Submit a draft when it is ready.',
  },
] as const

/** The live version, the development head and the version in review. */
export const StatusCards = ({ slug, overview }: OverviewStatusProps) => (
  <div class="cards figures">
    {versionCards.map(({ which, since, title, otherwise }) => (
      <article key={which}>
        <h2>{title}</h2>
        <VersionFigure slug={slug} version={overview[which]} since={since} otherwise={otherwise} />
      </article>
    ))}
  </div>
)

type VersionFigureProps = Pick<(typeof versionCards)[number], 'since' | 'otherwise'> & {
  readonly slug: string
  readonly version: VersionSummary | null
}

const VersionFigure = ({ slug, version, since, otherwise }: VersionFigureProps) =>
  version === null ? (
    <p class="muted">{otherwise}</p>
  ) : (
    <>
      <p class="figure">
        <a href={consoleAppPath(slug, 'versions', version.version)}>{version.version}</a>{' '}
        <VersionStatusBadge status={version.status} />
      </p>
      <p class="muted">
        <Time at={version[since]} />
      </p>
    </>
  )

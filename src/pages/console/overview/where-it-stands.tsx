import type { AppOverview } from '../../../operations/apps/overview.ts'
import type { VersionSummary } from '../../../operations/versions/lists.ts'
import { Time } from '../../components/values.tsx'
import { VersionStatusBadge } from '../../components/badges.tsx'
import { installCountsInWords } from '../../words.ts'
import { appPath } from '../paths.ts'

type WhereItStandsProps = { readonly slug: string; readonly overview: AppOverview }

/** At a glance: what users get, what is worked on, what waits, and who uses it. */
export const WhereItStands = ({ slug, overview }: WhereItStandsProps) => (
  <div class="cards figures">
    <VersionCard
      slug={slug}
      title="Live now"
      version={overview.live}
      since={overview.live?.activatedAt ?? null}
      otherwise="Nothing is live yet: a version goes live after its review."
    />
    <VersionCard
      slug={slug}
      title="Development head"
      version={overview.developmentHead}
      since={overview.developmentHead?.createdAt ?? null}
      otherwise="No version was uploaded yet."
    />
    <VersionCard
      slug={slug}
      title="Waiting for review"
      version={overview.submitted}
      since={overview.submitted?.submittedAt ?? null}
      otherwise="Nothing waits: submit a draft when it is ready."
    />
    <article>
      <h2>Installs</h2>
      <p>
        <a href={appPath(slug, 'installs')}>{installCountsInWords(overview.installs)}</a>
      </p>
    </article>
  </div>
)

type VersionCardProps = {
  readonly slug: string
  readonly title: string
  readonly version: VersionSummary | null
  readonly since: number | null
  readonly otherwise: string
}

const VersionCard = ({ slug, title, version, since, otherwise }: VersionCardProps) => (
  <article>
    <h2>{title}</h2>
    {version === null ? <p class="muted">{otherwise}</p> : <VersionLine slug={slug} version={version} since={since} />}
  </article>
)

type VersionLineProps = { readonly slug: string; readonly version: VersionSummary; readonly since: number | null }

const VersionLine = ({ slug, version, since }: VersionLineProps) => (
  <>
    <p class="figure">
      <a href={appPath(slug, 'versions', version.version)}>{version.version}</a>{' '}
      <VersionStatusBadge status={version.status} />
    </p>
    <p class="muted">{since === null ? null : <Time at={since} />}</p>
  </>
)

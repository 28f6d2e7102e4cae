import type { AppOverview } from '../../operations/apps/overview.ts'
import type { VersionSummary } from '../../operations/versions/lists.ts'
import { VersionStatusBadge } from '../components/badges.tsx'
import { Time } from '../components/values.tsx'
import { installCountsInWords } from '../words.ts'
import { consoleAppPath } from './own-app.tsx'

type OverviewStatusProps = { readonly slug: string; readonly overview: AppOverview }

/** The live version, the development head, the version in review, and the installs. */
export const StatusCards = ({ slug, overview }: OverviewStatusProps) => (
  <div class="cards figures">
    <VersionCard
      slug={slug}
      title="Live now"
      version={overview.live}
      since={overview.live?.activatedAt ?? null}
      otherwise="Nothing is live yet. A version goes live after its review."
    />
    <VersionCard
      slug={slug}
      title="Development head"
      version={overview.developmentHead}
      since={overview.developmentHead?.createdAt ?? null}
      otherwise="No version has been uploaded yet."
    />
    <VersionCard
      slug={slug}
      title="Waiting for review"
      version={overview.submitted}
      since={overview.submitted?.submittedAt ?? null}
      otherwise="No version is waiting. Submit a draft when it is ready."
    />
    <article>
      <h2>Installs</h2>
      <p>
        <a href={consoleAppPath(slug, 'installs')}>{installCountsInWords(overview.installs)}</a>
      </p>
    </article>
  </div>
)

type VersionCardProps = {
  readonly slug: string
  readonly title: string
  readonly version: VersionSummary | null
  readonly since: number | null
  /** The text without a version. */
  readonly otherwise: string
}

const VersionCard = ({ slug, title, version, since, otherwise }: VersionCardProps) => (
  <article>
    <h2>{title}</h2>
    {version === null ? (
      <p class="muted">{otherwise}</p>
    ) : (
      <>
        <p class="figure">
          <a href={consoleAppPath(slug, 'versions', version.version)}>{version.version}</a>{' '}
          <VersionStatusBadge status={version.status} />
        </p>
        <p class="muted">{since === null ? null : <Time at={since} />}</p>
      </>
    )}
  </article>
)

type Step = { readonly done: boolean; readonly name: string; readonly href: string; readonly why: string }

/** The steps from a new app to its first users, in order. */
const stepsOf = (slug: string, overview: AppOverview): readonly Step[] => [
  {
    done: overview.liveSecrets.development.length > 0,
    name: 'Create a development secret',
    href: consoleAppPath(slug, 'credentials'),
    why: 'Your backend uses it to authenticate as your app.',
  },
  {
    done: overview.lastUsedAt !== null,
    name: 'Make the first call',
    href: consoleAppPath(slug, 'first-call'),
    why: 'Get an app token and call the API with it.',
  },
  {
    done: overview.redirectUris.development.length > 0,
    name: 'Register a redirect URI for development',
    href: consoleAppPath(slug, 'redirect-uris'),
    why: 'Users return to it after they have decided.',
  },
  {
    done: overview.developmentHead !== null,
    name: 'Upload a version',
    href: consoleAppPath(slug, 'versions'),
    why: 'Use the API or the command line, with development credentials.',
  },
  {
    done: overview.live !== null || overview.submitted !== null,
    name: 'Submit a version for review',
    href: consoleAppPath(slug, 'versions'),
    why: 'An operator approves it and makes it live.',
  },
]

/** The steps, until all of them are done. */
export const Checklist = ({ slug, overview }: OverviewStatusProps) => {
  const steps = stepsOf(slug, overview)
  const next = steps.find(({ done }) => !done)
  if (next === undefined) return null
  return (
    <section aria-labelledby="getting-started">
      <h2 id="getting-started">Getting started</h2>
      <ol class="checklist">
        {steps.map((step) => (
          <li key={step.name} class={step.done ? 'done' : undefined}>
            <span class="mark" aria-hidden="true">
              {step.done ? '✓' : ''}
            </span>
            <span>
              {step.done ? <span>{step.name}</span> : <a href={step.href}>{step.name}</a>}
              <span class="muted">
                {step.done ? ' – done' : step === next ? ` – next. ${step.why}` : ` – ${step.why}`}
              </span>
            </span>
          </li>
        ))}
      </ol>
    </section>
  )
}

import type { AppOverview } from '../../operations/apps/overview.ts'
import type { VersionSummary } from '../../operations/versions/lists.ts'
import { VersionStatusBadge } from '../design/badge.tsx'
import { Time } from '../design/values.tsx'
import { installCountsInWords } from '../words.ts'
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

/** The live version, the development head, the version in review, and the installs. */
export const StatusCards = ({ slug, overview }: OverviewStatusProps) => (
  <div class="cards figures">
    {versionCards.map(({ which, since, title, otherwise }) => (
      <article key={which}>
        <h2>{title}</h2>
        <VersionFigure slug={slug} version={overview[which]} since={since} otherwise={otherwise} />
      </article>
    ))}
    <article>
      <h2>Installs</h2>
      <p>
        <a href={consoleAppPath(slug, 'installs')}>{installCountsInWords(overview.installs)}</a>
      </p>
    </article>
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

/** The steps from a new app to its first users, in order. */
const stepsOf = (slug: string, overview: AppOverview) => [
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

import type { AppOverview } from '../../../operations/apps/overview.ts'
import { appPath } from '../paths.ts'

type Step = { readonly done: boolean; readonly name: string; readonly href: string; readonly why: string }

/** What stands between a new app and its first users, in the order in which it is done. */
const stepsOf = (slug: string, overview: AppOverview): readonly Step[] => [
  {
    done: overview.liveSecrets.development.length > 0,
    name: 'Create a development secret',
    href: appPath(slug, 'credentials'),
    why: 'Your backend proves with it that it is your app.',
  },
  {
    done: overview.lastUsedAt !== null,
    name: 'Make the first call',
    href: appPath(slug, 'first-call'),
    why: 'An app token, and who you are: two lines to paste.',
  },
  {
    done: overview.redirectUris.development.length > 0,
    name: 'Register a redirect URI for development',
    href: appPath(slug, 'redirect-uris'),
    why: 'Where users come back to after they have decided.',
  },
  {
    done: overview.developmentHead !== null,
    name: 'Upload a version',
    href: appPath(slug, 'versions'),
    why: 'By the API or the command line, with development credentials.',
  },
  {
    done: overview.live !== null || overview.submitted !== null,
    name: 'Submit a version for review',
    href: appPath(slug, 'versions'),
    why: 'An operator approves it and makes it live.',
  },
]

type ChecklistProps = { readonly slug: string; readonly overview: AppOverview }

/** Gone once everything is done: then it has nothing to say. */
export const Checklist = ({ slug, overview }: ChecklistProps) => {
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

import type { AppOverview } from '../operations/apps/lists.ts'
import { Badge } from './design/badge.tsx'
import { counted } from './words.ts'

export type SetUpStep = {
  readonly done: boolean
  readonly name: string
  readonly href: string
  /** What it is for, while it is not done. */
  readonly why: string
  /** An app can be used without it. */
  readonly isOptional?: boolean
}

const appPath = (slug: string, page: string): string => `/console/${slug}/${page}`

/** The steps from a new app to its first users, in order. */
export const setUpSteps = (slug: string, overview: AppOverview): readonly SetUpStep[] => [
  {
    done: overview.liveSecrets.development.length > 0,
    name: 'Create a development secret',
    href: appPath(slug, 'credentials/new?environment=development'),
    why: 'Your backend authenticates with it.',
  },
  {
    done: overview.redirectUris.development.length > 0,
    name: 'Register a redirect URI for development',
    href: appPath(slug, 'redirect-uris?environment=development'),
    why: 'Users return to it after they allow or deny access.',
  },
  {
    done: overview.lastUsedAt !== null,
    name: 'Make the first call',
    href: appPath(slug, 'first-call?environment=development'),
    why: 'Get an app token and call the API with it.',
  },
  {
    done: overview.developmentHead !== null,
    name: 'Upload a version',
    href: appPath(slug, 'versions/new'),
    why: 'Users and operators see what is in it.',
  },
  {
    done: overview.webhooks > 0,
    name: 'Add a webhook',
    href: appPath(slug, 'webhooks?environment=development'),
    why: 'The platform calls your backend when something happens.',
    isOptional: true,
  },
  {
    done: overview.live !== null || overview.submitted !== null,
    name: 'Submit a version for review',
    href: appPath(slug, 'versions'),
    why: 'An operator approves it and makes it live.',
  },
]

/** Whether the app is still being set up: nothing is live, and a step that it needs is left. */
export const isNewApp = (overview: AppOverview, steps: readonly SetUpStep[]): boolean =>
  overview.live === null && steps.some(({ done, isOptional = false }) => !done && !isOptional)

/** The steps from a new app to its first users, with what is done. */
export const SetUp = ({ steps }: { readonly steps: readonly SetUpStep[] }) => {
  const done = steps.filter((step) => step.done).length
  const next = steps.find((step) => !step.done)
  return (
    <section aria-labelledby="set-up-app">
      <h2 id="set-up-app">Set up your app</h2>
      <p class="set-up-progress">
        <progress value={done} max={steps.length} aria-labelledby="set-up-done" />
        <span id="set-up-done">{`${done} of ${counted(steps.length, 'step')} done`}</span>
      </p>
      <ol class="checklist">
        {steps.map((step) => (
          <li key={step.name} class={step.done ? 'done' : undefined}>
            <span class="mark" aria-hidden="true">
              {step.done ? '✓' : ''}
            </span>
            <span>
              <a href={step.href}>{step.name}</a> {step === next ? <Badge>Next</Badge> : null}
              <span class="muted">{stepWords(step)}</span>
            </span>
          </li>
        ))}
      </ol>
    </section>
  )
}

const stepWords = ({ done, why, isOptional = false }: SetUpStep): string =>
  done ? ' – done' : ` – ${why}${isOptional ? ' Optional.' : ''}`

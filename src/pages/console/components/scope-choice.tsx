import type { PlatformError } from '../../../domain/errors.ts'
import { scopeCatalogue, type ScopeName } from '../../../domain/scope.ts'
import { Badge, type Tone } from '../../components/badges.tsx'

const availabilityWords = {
  available: ['good', 'Available'],
  preview: ['plain', 'Preview'],
  issuable: ['plain', 'No endpoint uses it yet'],
  planned: ['plain', 'Planned'],
  restricted: ['plain', 'Restricted'],
} as const satisfies Record<(typeof scopeCatalogue)[ScopeName]['availability'], readonly [Tone, string]>

/** Who can be given a scope. */
const callerWords = (callers: readonly string[]): string =>
  callers.includes('app') ? 'For your app itself, and for users who consent.' : 'For users who consent.'

type ScopeChoiceProps = {
  readonly chosen: readonly string[]
  readonly error: PlatformError | null
}
type Entry = readonly [name: string, entry: (typeof scopeCatalogue)[ScopeName]]

const entries: readonly Entry[] = Object.entries(scopeCatalogue)
const isOpen = ([, { availability }]: Entry): boolean => availability !== 'planned' && availability !== 'restricted'

/** Every scope there is: those that an app can register to choose from, the others to know of. */
export const ScopeChoice = ({ chosen, error }: ScopeChoiceProps) => {
  const fault = error?.facts.param === 'scopes' ? error.message : null
  return (
    <fieldset class="scopes" aria-describedby={fault === null ? undefined : 'scopes-fault'}>
      <legend>Scopes it may ask for</legend>
      {fault === null ? null : (
        <p id="scopes-fault" class="fault">
          {fault}
        </p>
      )}
      {entries.filter(isOpen).map(([name, { availability, words, callers }]) => (
        <div class="scope" key={name}>
          <input
            type="checkbox"
            id={`scope-${name}`}
            name="scopes"
            value={name}
            checked={chosen.includes(name)}
            aria-describedby={`about-${name}`}
          />
          <label for={`scope-${name}`}>
            <code>{name}</code> <Availability of={availability} />
          </label>
          <small id={`about-${name}`}>
            {words}. {callerWords(callers)}
          </small>
        </div>
      ))}
      <p class="muted">Not available yet:</p>
      <ul>
        {entries
          .filter((entry) => !isOpen(entry))
          .map(([name, { availability, words }]) => (
            <li key={name}>
              <code>{name}</code> <Availability of={availability} /> <span class="muted">{words}.</span>
            </li>
          ))}
      </ul>
    </fieldset>
  )
}

const Availability = ({ of }: { readonly of: keyof typeof availabilityWords }) => {
  const [tone, words] = availabilityWords[of]
  return <Badge tone={tone}>{words}</Badge>
}

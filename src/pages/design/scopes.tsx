import { scopeCatalogue, type ScopeName } from '../../domain/scope.ts'
import { Badge, type BadgeWords, StateBadge } from './badge.tsx'
import { Choice, ChoiceSet, type FormErrors } from './field.tsx'

type ScopeListProps = {
  readonly scopes: readonly ScopeName[]
  /** The scopes that were agreed to before; the others are marked as new. Null marks nothing. */
  readonly agreed?: readonly ScopeName[] | null
  /** `inline` shows them in one line, for rows. */
  readonly class?: 'asked' | 'inline'
}

/** What an app may do, in words. */
export const ScopeList = ({ scopes, agreed = null, class: name }: ScopeListProps) =>
  scopes.length === 0 ? (
    <p class={name === 'inline' ? 'row-facts' : undefined}>Only learn an ID that stands for your account.</p>
  ) : (
    <ul class={name}>
      {scopes.map((scope) => (
        <li key={scope}>
          {scopeCatalogue[scope].words}
          {agreed === null || agreed.includes(scope) ? null : (
            <>
              {' '}
              <Badge tone="waiting">New</Badge>
            </>
          )}
        </li>
      ))}
    </ul>
  )

type ScopeChangesProps = {
  readonly scopes: readonly ScopeName[]
  /** Those of them that are new. */
  readonly added: readonly ScopeName[]
  readonly dropped: readonly ScopeName[]
}

/** What a version asks for in the place of another one: what is new, what stays, and what it no longer asks for. */
export const ScopeChanges = ({ scopes, added, dropped }: ScopeChangesProps) => (
  <ul>
    {[...added, ...scopes.filter((scope) => !added.includes(scope)), ...dropped].map((scope) => (
      <li key={scope}>
        {scopeCatalogue[scope].words} <code>{scope}</code>{' '}
        {added.includes(scope) ? <Badge tone="waiting">New</Badge> : null}
        {dropped.includes(scope) ? <Badge>No longer requested</Badge> : null}
      </li>
    ))}
  </ul>
)

type ScopeChoiceProps = { readonly chosen: readonly string[]; readonly error?: FormErrors }

type Entry = readonly [name: string, entry: (typeof scopeCatalogue)[ScopeName]]
const entries: readonly Entry[] = Object.entries(scopeCatalogue)
const isOpen = ([, { availability }]: Entry): boolean => availability !== 'planned' && availability !== 'restricted'

/** Every scope: those that an app can register, then those that are not available yet. */
export const ScopeChoice = ({ chosen, error }: ScopeChoiceProps) => (
  <ChoiceSet legend="Scopes it may ask for" name="scopes" error={error}>
    {entries.filter(isOpen).map(([name, { availability, words, callers }]) => (
      <Choice
        key={name}
        type="checkbox"
        name="scopes"
        value={name}
        checked={chosen.includes(name)}
        about={`${words}. ${callersSentence(callers)}`}
      >
        <code>{name}</code> <StateBadge of={availabilityWords[availability]} />
      </Choice>
    ))}
    <p class="muted">Not available yet:</p>
    <ul>
      {entries
        .filter((entry) => !isOpen(entry))
        .map(([name, { availability, words }]) => (
          <li key={name}>
            <code>{name}</code> <StateBadge of={availabilityWords[availability]} /> <span class="muted">{words}.</span>
          </li>
        ))}
    </ul>
  </ChoiceSet>
)

const callersSentence = (callers: readonly string[]): string =>
  callers.includes('app') ? 'For your app itself, and for users who consent.' : 'For users who consent.'

const availabilityWords = {
  available: ['good', 'Available'],
  preview: ['plain', 'Preview'],
  issuable: ['plain', 'No endpoint uses it yet'],
  planned: ['plain', 'Planned'],
  restricted: ['plain', 'Restricted'],
} as const satisfies Record<(typeof scopeCatalogue)[ScopeName]['availability'], BadgeWords>

import { isIssuable, type ScopeCatalogue, type ScopeEntry, type ScopeName } from '../../domain/scope.ts'
import { Badge, type BadgeWords, StateBadge } from './badge.tsx'
import { ChoiceList, ChoiceSet, type FormErrors } from './field.tsx'

type ScopeListProps = {
  readonly catalogue: ScopeCatalogue
  readonly scopes: readonly ScopeName[]
  /** The scopes that were agreed to before; the others are marked as new. Null marks nothing. */
  readonly agreed?: readonly ScopeName[] | null
  /** `inline` shows them in one line, for rows. */
  readonly class?: 'asked' | 'inline'
}

/** What a scope allows. */
export const wordsOf = (catalogue: ScopeCatalogue, name: ScopeName): string => catalogue.get(name)?.words ?? name

/** What an app may do, in words. */
export const ScopeList = ({ catalogue, scopes, agreed = null, class: name }: ScopeListProps) =>
  scopes.length === 0 ? (
    <p class={name === 'inline' ? 'row-facts' : undefined}>Get only an ID for your account.</p>
  ) : (
    <ul class={name}>
      {scopes.map((scope) => (
        <li key={scope}>
          <bdi>{wordsOf(catalogue, scope)}</bdi>
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
  readonly catalogue: ScopeCatalogue
  readonly scopes: readonly ScopeName[]
  /** Those of them that are new. */
  readonly added: readonly ScopeName[]
  readonly dropped: readonly ScopeName[]
}

/** What a version asks for in the place of another one: what is new, what stays, and what it no longer asks for. */
export const ScopeChanges = ({ catalogue, scopes, added, dropped }: ScopeChangesProps) => (
  <ul>
    {[...added, ...scopes.filter((scope) => !added.includes(scope)), ...dropped].map((scope) => (
      <li key={scope}>
        <bdi>{wordsOf(catalogue, scope)}</bdi> <code>{scope}</code>{' '}
        {added.includes(scope) ? <Badge tone="waiting">New</Badge> : null}
        {dropped.includes(scope) ? <Badge>No longer requested</Badge> : null}
      </li>
    ))}
  </ul>
)

type ScopeChoiceProps = {
  readonly catalogue: ScopeCatalogue
  readonly chosen: readonly string[]
  /** Restricted scopes that the app may register. */
  readonly given?: readonly string[]
  readonly error?: FormErrors
}

type Entry = readonly [name: string, entry: ScopeEntry]

/** Every scope: those that an app can register, then those that are not available to it. */
export const ScopeChoice = ({ catalogue, chosen, given = [], error }: ScopeChoiceProps) => {
  const isOpen = ([name, entry]: Entry): boolean => isIssuable(entry) || given.includes(name)
  const entries: readonly Entry[] = [...catalogue]
  return (
    <ChoiceSet legend="Scopes it may ask for" name="scopes" error={error}>
      <ChoiceList
        name="scopes"
        options={entries.filter(isOpen).map(([name, { availability, words, callers }]) => [
          name,
          <>
            <code>{name}</code> <StateBadge of={availabilityWords[availability]} />
          </>,
          <>
            <bdi>{words}</bdi>. {callersSentence(callers)}
          </>,
        ])}
        chosen={chosen}
      />
      <p class="muted">Not available yet:</p>
      <ul>
        {entries
          .filter((entry) => !isOpen(entry))
          .map(([name, { availability, words }]) => (
            <li key={name}>
              <code>{name}</code> <StateBadge of={availabilityWords[availability]} />{' '}
              <span class="muted">
                <bdi>{words}</bdi>.
              </span>
            </li>
          ))}
      </ul>
    </ChoiceSet>
  )
}

const callersSentence = (callers: readonly string[]): string => {
  if (!callers.includes('app')) return 'For users who consent.'
  return callers.includes('user') ? 'For your app itself, and for users who consent.' : 'For your app itself.'
}

const availabilityWords = {
  available: ['good', 'Available'],
  preview: ['plain', 'Preview'],
  issuable: ['plain', 'No endpoint uses it yet'],
  own: ['good', 'Available'],
  planned: ['plain', 'Planned'],
  restricted: ['plain', 'Restricted'],
} as const satisfies Record<ScopeEntry['availability'], BadgeWords>

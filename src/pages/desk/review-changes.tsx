import type { ManifestChange } from '../../domain/manifest-difference.ts'
import type { ScopeCatalogue } from '../../domain/scope.ts'
import { visibleJson, visibleText } from '../../domain/text.ts'
import type { Review } from '../../operations/versions/lists.ts'
import { type BadgeWords, StateBadge } from '../design/badge.tsx'
import { ScopeChanges } from '../design/scopes.tsx'
import { Table } from '../design/table.tsx'
import { reviewPath } from './desk-page.tsx'

type ReviewedScopesProps = { readonly catalogue: ScopeCatalogue; readonly review: Review }

/** The scopes of a version, compared with those of the live one. */
export const ReviewedScopes = ({ catalogue, review }: ReviewedScopesProps) => {
  const { version, live, newScopes, droppedScopes } = review
  return (
    <section aria-labelledby="scopes">
      <h2 id="scopes">Scopes</h2>
      <p class="muted">{scopeSentence(review)}</p>
      <ScopeChanges
        catalogue={catalogue}
        scopes={version.scopes}
        added={live === null ? [] : newScopes}
        dropped={droppedScopes}
      />
    </section>
  )
}

const scopeSentence = ({ version, live, newScopes, droppedScopes }: Review): string => {
  if (version.scopes.length === 0 && droppedScopes.length === 0) return 'It asks for no scopes.'
  if (live === null) return 'Nothing is live yet, so all of them are new.'
  if (live.id === version.id) return 'This is the live version.'
  if (newScopes.length > 0) {
    return `${newScopes.length === 1 ? 'One new scope' : `${newScopes.length} new scopes`}, compared with the live version ${live.version}.`
  }
  return `No new scopes, compared with the live version ${live.version}.`
}

/** Longer values and manifests are cut here. The complete manifest has its own page. */
const longestValue = 600
const longestManifest = 20_000

/** The manifest, and its differences from the live manifest. */
export const ManifestChanges = ({ review }: { readonly review: Review }) => {
  const { app, version, live, changes, moreChanges } = review
  return (
    <section aria-labelledby="manifest">
      <h2 id="manifest">Manifest</h2>
      <p class="muted">{manifestSentence(review)}</p>
      <ChangeTable changes={changes} columns={['Live now', 'In this version']} />
      {moreChanges === 0 ? null : (
        <p class="problem">
          {moreChanges} more changes are not shown here. Compare the complete manifests before you decide.
        </p>
      )}
      <details open={live === null}>
        <summary>Show the manifest</summary>
        <pre tabIndex={0} role="region" aria-label={`The manifest of ${version.version}`}>
          {cut(visibleJson(version.manifest), longestManifest)}
        </pre>
      </details>
      <p class="beside apart">
        <a class="button small" href={reviewPath(app.slug, version.version, 'manifest')}>
          Complete manifest of {version.version}
        </a>
        {live === null || live.id === version.id ? null : (
          <>
            {' '}
            <a class="button small" href={reviewPath(app.slug, live.version, 'manifest')}>
              Complete manifest of {live.version}
            </a>
          </>
        )}
      </p>
    </section>
  )
}

const manifestSentence = ({ version, live, changes, moreChanges }: Review): string => {
  if (live === null) return 'Nothing is live yet, so there is nothing to compare it with.'
  if (live.id === version.id) return 'This is the live version.'
  const count = changes.length + moreChanges
  if (count === 0) return `The same as in the live version ${live.version}.`
  return `${count === 1 ? 'One change' : `${count} changes`}, compared with the live version ${live.version}.`
}

const marks = {
  added: ['good', 'Added'],
  removed: ['bad', 'Removed'],
  changed: ['waiting', 'Changed'],
} as const satisfies Record<ManifestChange['kind'], BadgeWords>

type ChangeTableProps = {
  readonly changes: readonly ManifestChange[]
  /** The names of the two manifests. */
  readonly columns: readonly [before: string, after: string]
}

/** The differences of two manifests. */
export const ChangeTable = ({ changes, columns: [before, after] }: ChangeTableProps) => (
  <Table
    label="Changes of the manifest"
    rows={changes}
    rowHeader="Where"
    columns={{
      Change: ({ kind }) => <StateBadge of={marks[kind]} />,
      // The developer chose the path as well as the value.
      Where: ({ path }) => <code>{visibleText(cut(path, longestValue))}</code>,
      [before]: (change) => (change.kind === 'added' ? <Nothing /> : <Value value={change.before} />),
      [after]: (change) => (change.kind === 'removed' ? <Nothing /> : <Value value={change.after} />),
    }}
  />
)

const Nothing = () => <span class="muted">nothing</span>
const Value = ({ value }: { readonly value: unknown }) => (
  <code class="value">{cut(visibleJson(value), longestValue)}</code>
)

const cut = (text: string, longest: number): string =>
  text.length <= longest ? text : `${text.slice(0, longest)}… (${text.length - longest} more characters)`

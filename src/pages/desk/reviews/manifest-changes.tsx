import type { ManifestChange } from '../../../domain/manifest-difference.ts'
import { visibleJson, visibleText } from '../../../domain/text.ts'
import type { Review } from '../../../operations/versions/read-review.ts'
import { Badge, type Tone } from '../../components/badges.tsx'
import { Table } from '../../components/table.tsx'
import { reviewPath } from '../paths.ts'

/** Longer values and manifests are cut here; the whole manifest has a page of its own. */
const longestValue = 600
const longestManifest = 20_000

/** The difference of the manifest against the live one, and the manifest itself. */
export const ManifestChanges = ({ review }: { readonly review: Review }) => {
  const { app, version, live, changes, moreChanges } = review
  const whole = visibleJson(version.manifest)
  return (
    <section aria-labelledby="manifest">
      <h2 id="manifest">Manifest</h2>
      <p class="muted">{sentenceAbout(review)}</p>
      {changes.length === 0 ? null : <ChangeTable changes={changes} />}
      {moreChanges === 0 ? null : (
        <p class="problem">
          {moreChanges} more changes are not shown here. Compare the whole manifests before you decide.
        </p>
      )}
      <details open={live === null}>
        <summary>The manifest of {version.version}</summary>
        <pre tabIndex={0} role="region" aria-label={`The manifest of ${version.version}`}>
          {cut(whole, longestManifest)}
        </pre>
      </details>
      <p>
        <a href={reviewPath(app.slug, version.version, 'manifest')}>The whole manifest of {version.version}</a>
        {live === null || live.id === version.id ? null : (
          <>
            {' · '}
            <a href={reviewPath(app.slug, live.version, 'manifest')}>The whole manifest of {live.version}</a>
          </>
        )}
      </p>
    </section>
  )
}

const sentenceAbout = ({ version, live, changes, moreChanges }: Review): string => {
  if (live === null) return 'Nothing is live yet, so there is nothing to compare it with.'
  if (live.id === version.id) return 'This is the manifest of the live version.'
  const count = changes.length + moreChanges
  if (count === 0) return `It is the same as that of the live version ${live.version}.`
  return `${count === 1 ? 'One change' : `${count} changes`} against the live version ${live.version}.`
}

const marks = {
  added: ['good', 'Added'],
  removed: ['bad', 'Removed'],
  changed: ['waiting', 'Changed'],
} as const satisfies Record<ManifestChange['kind'], readonly [Tone, string]>

const ChangeTable = ({ changes }: { readonly changes: readonly ManifestChange[] }) => (
  <Table label="Changes of the manifest" columns={['Change', 'Where', 'Live now', 'In this version']}>
    {changes.map((change) => (
      <tr key={change.path}>
        <td>
          <Badge tone={marks[change.kind][0]}>{marks[change.kind][1]}</Badge>
        </td>
        <th scope="row">
          <code>{placeOf(change.path)}</code>
        </th>
        <td>{change.kind === 'added' ? <Nothing /> : <Value value={change.before} />}</td>
        <td>{change.kind === 'removed' ? <Nothing /> : <Value value={change.after} />}</td>
      </tr>
    ))}
  </Table>
)

const Nothing = () => <span class="muted">nothing</span>
const Value = ({ value }: { readonly value: unknown }) => (
  <code class="value">{cut(visibleJson(value), longestValue)}</code>
)

/** A path is text of the developer's as much as a value is. */
const placeOf = (path: string): string => visibleText(cut(path, longestValue))

const cut = (text: string, longest: number): string =>
  text.length <= longest ? text : `${text.slice(0, longest)}… (${text.length - longest} more characters)`

import { visibleJson } from '../../../domain/text.ts'
import type { VersionRecord } from '../../../operations/versions/version-record.ts'

/** A manifest can be megabytes; nobody reads that on a page. */
const longestShown = 100_000

/** Pretty-printed, as text that says what is in it. */
export const Manifest = ({ manifest }: Pick<VersionRecord, 'manifest'>) => {
  const text = visibleJson(manifest)
  return (
    <>
      <pre tabIndex={0} role="region" aria-label="Manifest">
        <code>{text.slice(0, longestShown)}</code>
      </pre>
      {text.length > longestShown ? (
        <p class="muted">{`Only the first ${longestShown.toLocaleString('en')} of ${text.length.toLocaleString('en')} characters are shown.`}</p>
      ) : null}
    </>
  )
}

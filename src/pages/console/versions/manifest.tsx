import type { VersionRecord } from '../../../operations/versions/version-record.ts'

/** A manifest can be megabytes; nobody reads that on a page. */
const longestShown = 100_000
/** Marks that turn the reading direction, or are not seen at all: shown as JSON escapes them, so that nothing poses as something else. */
const hiddenMarks = /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g

/** Pretty-printed, as text that says what is in it. */
export const Manifest = ({ manifest }: Pick<VersionRecord, 'manifest'>) => {
  const text = JSON.stringify(manifest, null, 2)
  return (
    <>
      <pre tabIndex={0} role="region" aria-label="Manifest">
        <code>{text.slice(0, longestShown).replaceAll(hiddenMarks, escaped)}</code>
      </pre>
      {text.length > longestShown ? (
        <p class="muted">{`Only the first ${longestShown.toLocaleString('en')} of ${text.length.toLocaleString('en')} characters are shown.`}</p>
      ) : null}
    </>
  )
}

const escaped = (mark: string): string => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`

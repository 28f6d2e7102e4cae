import type { ComponentChildren } from 'preact'
import { Row, RowList } from './design/row-list.tsx'

type UriListProps = {
  readonly uris: readonly string[]
  /** The page that asks before a URI is removed; null for those who may not remove any. */
  readonly removal: ((uri: string) => string) | null
  readonly empty: ComponentChildren
}

/** The redirect URIs of an app in one environment. */
export const UriList = ({ uris, removal, empty }: UriListProps) => (
  <RowList
    rows={uris}
    empty={empty}
    row={(uri) => (
      <Row
        key={uri}
        title={<code>{uri}</code>}
        actions={
          removal === null ? undefined : (
            <a class="button small" href={removal(uri)} aria-label={`Remove ${uri}`}>
              Remove
            </a>
          )
        }
      />
    )}
  />
)

import type { ComponentChildren } from 'preact'
import { type Direction, Nothing, SortLink } from './list-tools.tsx'

/** What each column shows of a row, by the name of the column. */
export type Columns<Row> = Readonly<Record<string, (row: Row) => ComponentChildren>>

type TableProps<Row> = {
  /** The name that screen readers announce. */
  readonly label: string
  readonly rows: readonly Row[]
  readonly columns: Columns<Row>
  /** The column that names the row, for screen readers. */
  readonly rowHeader?: string
  /** The columns by which the list can be sorted. The link leads to that order. */
  readonly sort?: Readonly<Record<string, { readonly href: string; readonly direction: Direction }>>
  readonly class?: string
  /** Shown instead of a table without rows: a sentence, or an `EmptyState`. */
  readonly empty?: ComponentChildren
}

/** The column with the buttons of a row. Only screen readers are told its name. */
export const actionColumn = 'Action'

/**
 * Rows under named columns. On a phone each row becomes a list of labelled values. A wide table scrolls inside its own region,
 * which the keyboard can reach.
 */
export const Table = <Row,>({ label, rows, columns, rowHeader, sort = {}, class: name, empty }: TableProps<Row>) =>
  rows.length === 0 ? (
    <Nothing words={empty} />
  ) : (
    <div class="scroll" role="region" aria-label={label} tabIndex={0}>
      <table class={name}>
        <thead>
          <tr>
            {Object.keys(columns).map((column) => (
              <ColumnHeading column={column} sort={sort[column]} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr>
              {Object.entries(columns).map(([column, show]) =>
                column === rowHeader ? (
                  <th scope="row" data-label={column}>
                    {show(row)}
                  </th>
                ) : (
                  <td data-label={column === actionColumn ? undefined : column}>{show(row)}</td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )

type ColumnHeadingProps = {
  readonly column: string
  readonly sort: { readonly href: string; readonly direction: Direction } | undefined
}

const ColumnHeading = ({ column, sort }: ColumnHeadingProps) =>
  sort === undefined ? (
    <th scope="col">{column === actionColumn ? <span class="unseen">{column}</span> : column}</th>
  ) : (
    <th scope="col" aria-sort={sort.direction ?? 'none'}>
      <SortLink {...sort}>{column}</SortLink>
    </th>
  )

/** The link to the next part of a list; nothing at its end. */
export const Older = ({ href, name }: { readonly href: string | null; readonly name: string }) =>
  href === null ? null : (
    <p>
      <a href={href} rel="next">
        {name}
      </a>
    </p>
  )

import type { ComponentChildren } from 'preact'

/** What each column shows of a row, by the name of the column. */
export type Columns<Row> = Readonly<Record<string, (row: Row) => ComponentChildren>>

type TableProps<Row> = {
  /** The name that screen readers announce. */
  readonly label: string
  readonly rows: readonly Row[]
  readonly columns: Columns<Row>
  /** The column that names the row, for screen readers. */
  readonly rowHeader?: string
  readonly class?: string
  /** Shown instead of a table without rows. */
  readonly empty?: ComponentChildren
}

/** Rows under named columns. A wide table scrolls inside its own region, which the keyboard can reach. */
export const Table = <Row,>({ label, rows, columns, rowHeader, class: name, empty }: TableProps<Row>) =>
  rows.length === 0 ? (
    <Nothing words={empty} />
  ) : (
    <div class="scroll" role="region" aria-label={label} tabIndex={0}>
      <table class={name}>
        <thead>
          <tr>
            {Object.keys(columns).map((column) => (
              <th scope="col">{column}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr>
              {Object.entries(columns).map(([column, show]) =>
                column === rowHeader ? <th scope="row">{show(row)}</th> : <td>{show(row)}</td>,
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )

type CardsProps<Row> = Pick<TableProps<Row>, 'rows' | 'empty'> & { readonly card: (row: Row) => ComponentChildren }

/** Rows as cards, for rows with forms or much text. */
export const Cards = <Row,>({ rows, card, empty }: CardsProps<Row>) =>
  rows.length === 0 ? <Nothing words={empty} /> : <div class="cards">{rows.map((row) => card(row))}</div>

const Nothing = ({ words }: { readonly words: ComponentChildren }) =>
  words === undefined ? null : <p class="muted">{words}</p>

/** The link to the next part of a list; nothing at its end. */
export const Older = ({ href, name }: { readonly href: string | null; readonly name: string }) =>
  href === null ? null : (
    <p>
      <a href={href} rel="next">
        {name}
      </a>
    </p>
  )

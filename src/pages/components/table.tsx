import type { ComponentChildren } from 'preact'

type TableProps = {
  /** What a screen reader calls it. */
  readonly label: string
  readonly columns: readonly string[]
  readonly class?: string
  /** Its rows. */
  readonly children: ComponentChildren
}

/** Rows under named columns. A wide one scrolls by itself, so that the page does not; reachable by keyboard. */
export const Table = ({ label, columns, class: name, children }: TableProps) => (
  <div class="scroll" role="region" aria-label={label} tabIndex={0}>
    <table class={name}>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column} scope="col">
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </div>
)

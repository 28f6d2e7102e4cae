import type { ComponentChildren } from 'preact'

type TableProps = {
  /** The name that screen readers announce. */
  readonly label: string
  readonly columns: readonly string[]
  readonly class?: string
  /** The rows. */
  readonly children: ComponentChildren
}

/** Rows under named columns. A wide table scrolls inside its own region, which the keyboard can reach. */
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

/** The link to the next part of a list; nothing at its end. */
export const Older = ({ href, name }: { readonly href: string | null; readonly name: string }) =>
  href === null ? null : (
    <p>
      <a href={href} rel="next">
        {name}
      </a>
    </p>
  )

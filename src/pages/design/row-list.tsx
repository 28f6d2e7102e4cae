import type { ComponentChildren } from 'preact'
import type { ListPart } from '../list.ts'
import { noMatch, Nothing, Pager, type PagerProps } from './list-tools.tsx'
import { Dotted, TimeFact } from './values.tsx'

type RowListProps<Item> = {
  readonly rows: readonly Item[]
  readonly row: (item: Item) => ComponentChildren
  /** Shown instead of a list without rows: a sentence, or an `EmptyState`. */
  readonly empty?: ComponentChildren
  /** The name of the list, for screen readers, where no heading names it. */
  readonly label?: string
}

type ListRowsProps<Item> = Omit<RowListProps<Item>, 'rows'> &
  Pick<PagerProps, 'total' | 'pages'> & {
    readonly of: ListPart<Item>
  }

/** The rows of a list, with the links to the next ones. `empty` is for a list that has no rows at all. */
export const ListRows = <Item,>({ of, empty, total, pages, ...list }: ListRowsProps<Item>) => (
  <>
    <RowList {...list} rows={of.rows} empty={noMatch(of, empty)} />
    <Pager of={of} total={total ?? null} {...(pages && { pages })} />
  </>
)

/** Items as rows of one height, each made with `Row`. */
export const RowList = <Item,>({ rows, row, empty, label }: RowListProps<Item>) =>
  rows.length === 0 ? (
    <Nothing words={empty} />
  ) : (
    <ul class="row-list" aria-label={label}>
      {rows.map((item) => row(item))}
    </ul>
  )

type RowProps = {
  /** The page of the item. The whole row leads there. */
  readonly href?: string
  /** An `Avatar`. */
  readonly avatar?: ComponentChildren
  readonly title: ComponentChildren
  /** Short facts, shown in one line with dots between them. A fact that is null is left out. */
  readonly facts?: readonly ComponentChildren[]
  readonly badge?: ComponentChildren
  /** Buttons and links at the end of the row. */
  readonly actions?: ComponentChildren
  /** When something about the item happened, after what happened: `Created 4 Dec 2026`. */
  readonly time?: readonly [words: string, at: number | null]
  /** More about the item, below its facts. */
  readonly children?: ComponentChildren
}

/** One item of a `RowList`. */
export const Row = ({ href, avatar, title, facts = [], badge, actions, time, children }: RowProps) => (
  <li class={href === undefined ? 'row' : 'row linked'}>
    {avatar}
    <div class="row-main">
      <p class="row-title">
        {href === undefined ? <strong>{title}</strong> : <a href={href}>{title}</a>}
        {badge === undefined ? null : <> {badge}</>}
      </p>
      {facts.some((fact) => fact !== null) ? <Dotted of={facts} /> : null}
      {children}
    </div>
    {time === undefined || time[1] === null ? null : (
      <p class="row-time">
        <TimeFact words={time[0]} at={time[1]} />
      </p>
    )}
    {actions === undefined ? null : <div class="row-actions">{actions}</div>}
  </li>
)

import type { ComponentChildren } from 'preact'
import type { Counted } from '../../operations/page.ts'
import type { TicketBook } from '../visit.ts'

/** A field of a `FilterBar`, with its current value. */
type FilterField =
  | {
      readonly kind: 'search'
      readonly name: string
      readonly label: string
      readonly value: string
      readonly maxLength?: number
    }
  | {
      readonly kind: 'text'
      readonly name: string
      readonly label: string
      readonly value: string
      readonly maxLength?: number
    }
  | { readonly kind: 'date'; readonly name: string; readonly label: string; readonly value: string }
  | {
      readonly kind: 'choice'
      readonly name: string
      readonly label: string
      /** The name of the choice that shows everything; without it, one of the options is always chosen. */
      readonly all?: string
      readonly options: readonly (readonly [value: string, words: string])[]
      readonly selected: string | null
      /** The choice that counts as no filter; that of everything without it. */
      readonly usual?: string
    }

type FilterBarProps = {
  /** The address of the list, which the form asks for again. */
  readonly path: string
  readonly fields: readonly FilterField[]
  /** Parameters that a new filter keeps, such as the order. Empty ones are left out. */
  readonly kept?: Readonly<Record<string, string>>
  readonly button?: string
  /** Tells several filters of one page apart. */
  readonly label?: string
  /** False for a list that has nothing to narrow. */
  readonly isShown?: boolean
}

/** Narrows a list. The result has an address of its own, which can be kept and shared. */
export const FilterBar = ({ path, fields, kept = {}, button = 'Filter', label, isShown = true }: FilterBarProps) => {
  if (!isShown) return null
  const others = Object.entries(kept).filter(([, value]) => value !== '')
  const cleared = others.length === 0 ? path : `${path}?${new URLSearchParams(others).toString()}`
  return (
    <search aria-label={label}>
      <form method="get" action={path} class="filter-bar">
        {others.map(([name, value]) => (
          <input key={name} type="hidden" name={name} value={value} />
        ))}
        {fields.map((field) => (
          <div key={field.name} class={`filter-field ${field.kind}`}>
            <Control field={field} />
          </div>
        ))}
        <button type="submit">{button}</button>
        {fields.some(isSet) ? <a href={cleared}>Clear</a> : null}
      </form>
    </search>
  )
}

/** A list that is shorter needs no search. */
export const manyRows = 6

type SearchBarProps = {
  readonly path: string
  readonly label: string
  /** What was searched for; empty for everything. */
  readonly part: string
  readonly shown: { readonly rows: readonly unknown[]; readonly newerHref?: string | null }
}

/** A search in a list that is usually short. It is shown when there is something to search in. */
export const SearchBar = ({ path, label, part, shown: { rows, newerHref = null } }: SearchBarProps) =>
  part === '' && newerHref === null && rows.length < manyRows ? null : (
    <FilterBar path={path} button="Search" fields={[{ kind: 'search', name: 'q', label, value: part }]} />
  )

const isSet = (field: FilterField): boolean =>
  field.kind === 'choice' ? field.selected !== null && field.selected !== (field.usual ?? '') : field.value !== ''

const Control = ({ field }: { readonly field: FilterField }) => {
  if (field.kind === 'choice') {
    const { name, label, all, options, selected } = field
    return (
      <Choices
        name={name}
        label={label}
        {...(all === undefined ? {} : { all })}
        options={options}
        selected={selected}
      />
    )
  }
  const { name, value } = field
  const shared = { id: name, name, value, autocomplete: 'off' }
  return (
    <>
      <label for={name}>{field.label}</label>
      {field.kind === 'date' ? <input type="date" {...shared} /> : null}
      {field.kind === 'search' ? <input type="search" maxLength={field.maxLength ?? 254} {...shared} /> : null}
      {field.kind === 'text' ? <input type="text" maxLength={field.maxLength ?? 254} {...shared} /> : null}
    </>
  )
}

type PagerProps = {
  readonly newerHref: string | null
  readonly olderHref: string | null
  /** How many rows this page shows. */
  readonly shown: number
  /** How many rows there are in all, if that is known. */
  readonly total?: number | Counted | null
  /** Tells several pagers of one page apart. */
  readonly label?: string
}

/** Links to the previous and the next rows of a list; nothing for a list of one page whose total is unknown. */
export const Pager = ({ newerHref, olderHref, shown, total = null, label = 'Pages' }: PagerProps) =>
  newerHref === null && olderHref === null && (total === null || shown === 0) ? null : (
    <nav class="pager" aria-label={label}>
      <span class="pager-count">{total === null ? `${shown} shown` : `${shown} of ${countInWords(total)} shown`}</span>
      {newerHref === null ? null : (
        <a class="button small" href={newerHref} rel="prev">
          Previous
        </a>
      )}
      {olderHref === null ? null : (
        <a class="button small" href={olderHref} rel="next">
          {shown === 0 ? 'Continue the search' : 'Next'}
        </a>
      )}
    </nav>
  )

/** The order of a column, as `aria-sort` names it; null if the list is not sorted by it. */
export type Direction = 'ascending' | 'descending' | null

type SortLinkProps = { readonly href: string; readonly direction: Direction; readonly children: ComponentChildren }

/** The heading of a column, which sorts the list by it. */
export const SortLink = ({ href, direction, children }: SortLinkProps) => (
  <a class="sort" href={href}>
    {children}
    <span aria-hidden="true">{direction === null ? ' ↕' : direction === 'ascending' ? ' ↑' : ' ↓'}</span>
  </a>
)

/** A number beside a heading or a link. Above `most`, or if not everything was counted, it says that there are more. */
export const Count = ({ of, most = Infinity }: { readonly of: number | Counted; readonly most?: number }) => (
  <span class="count">
    {typeof of === 'number' && of > most ? countInWords({ count: most, exact: false }) : countInWords(of)}
  </span>
)

/** `1,234`, or `10,000+` when only so many rows were counted. */
const countInWords = (of: number | Counted): string =>
  typeof of === 'number' ? of.toLocaleString('en') : `${of.count.toLocaleString('en')}${of.exact ? '' : '+'}`

type SegmentsProps = {
  readonly label: string
  readonly links: readonly {
    readonly href: string
    readonly name: string
    readonly count: number | Counted | null
    readonly current: boolean
  }[]
}

/** The parts of a list, each with how many rows it has. */
export const Segments = ({ label, links }: SegmentsProps) => (
  <nav class="tabs segments" aria-label={label}>
    <ul>
      {links.map(({ href, name, count, current }) => (
        <li key={href}>
          <a href={href} aria-current={current ? 'true' : undefined}>
            {name} {count === null ? null : <Count of={count} />}
          </a>
        </li>
      ))}
    </ul>
  </nav>
)

/**
 * What a list without rows says. A search reads a limited number of rows at a time, so it can find nothing in a part of the
 * list. `nothing` is for a list that has no rows at all.
 */
export const noMatch = (
  { olderHref }: { readonly olderHref: string | null },
  isFiltered: boolean,
  nothing: ComponentChildren,
): ComponentChildren => {
  if (olderHref !== null) return 'No match so far.'
  return isFiltered ? 'Nothing matches. Change or clear the filters.' : nothing
}

type ChoicesProps = {
  readonly name: string
  readonly label: string
  /** The name of the choice that shows everything. */
  readonly all?: string
  readonly options: readonly (readonly [value: string, words: string])[]
  readonly selected: string | null
}

/** A labelled list to choose one value from, or all. */
export const Choices = ({ name, label, all, options, selected }: ChoicesProps) => (
  <>
    <label for={name}>{label}</label>
    <select id={name} name={name}>
      {all === undefined ? null : (
        <option value="" selected={selected === null}>
          {all}
        </option>
      )}
      {options.map(([value, words]) => (
        <option key={value} value={value} selected={value === selected}>
          {words}
        </option>
      ))}
    </select>
  </>
)

type ExportFormProps = {
  readonly visit: { readonly tickets: TicketBook }
  readonly action: string
  /** The filters of the list. Empty ones are left out. */
  readonly fields: Readonly<Record<string, string>>
  readonly what: string
  /** How many rows this page shows. Nothing is not exported. */
  readonly shown: number
}

/** A button that downloads a list with its filters as CSV. It can be pressed again, unlike other forms. */
export const ExportForm = ({ visit, action, fields, what, shown }: ExportFormProps) =>
  shown === 0 ? null : (
    <form method="post" action={action} class="export">
      <input type="hidden" name="ticket" value={visit.tickets.issue(action)} />
      {Object.entries(fields).map(([name, value]) =>
        value === '' ? null : <input key={name} type="hidden" name={name} value={value} />,
      )}
      <button type="submit" class="small">
        Export these {what} as CSV
      </button>
    </form>
  )

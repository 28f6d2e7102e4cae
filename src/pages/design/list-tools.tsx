import type { ComponentChildren } from 'preact'

/** A field of a `FilterBar`, with its current value. */
export type FilterField =
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
      /** The name of the choice that shows everything. */
      readonly all: string
      readonly options: readonly (readonly [value: string, words: string])[]
      readonly selected: string | null
    }

type FilterBarProps = {
  /** The address of the list, which the form asks for again. */
  readonly path: string
  readonly fields: readonly FilterField[]
  /** Parameters that a new filter keeps, such as the order. Empty ones are left out. */
  readonly kept?: Readonly<Record<string, string>>
  readonly button?: string
}

/** Narrows a list. The result has an address of its own, which can be kept and shared. */
export const FilterBar = ({ path, fields, kept = {}, button = 'Filter' }: FilterBarProps) => {
  const others = Object.entries(kept).filter(([, value]) => value !== '')
  const cleared = others.length === 0 ? path : `${path}?${new URLSearchParams(others).toString()}`
  return (
    <search>
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
        {fields.some(isSet) ? <a href={cleared}>Clear filters</a> : null}
      </form>
    </search>
  )
}

const isSet = (field: FilterField): boolean =>
  field.kind === 'choice' ? field.selected !== null && field.selected !== '' : field.value !== ''

const Control = ({ field }: { readonly field: FilterField }) => {
  if (field.kind === 'choice') {
    const { name, label, all, options, selected } = field
    return <Choices name={name} label={label} all={all} options={options} selected={selected} />
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
  readonly total?: number | null
  /** Tells several pagers of one page apart. */
  readonly label?: string
}

/** Links to the previous and the next rows of a list; nothing for a list of one page whose total is unknown. */
export const Pager = ({ newerHref, olderHref, shown, total = null, label = 'Pages' }: PagerProps) =>
  newerHref === null && olderHref === null && total === null ? null : (
    <nav class="pager" aria-label={label}>
      <span class="pager-count">{total === null ? `${shown} shown` : `${shown} of ${total} shown`}</span>
      {newerHref === null ? null : (
        <a class="button small" href={newerHref} rel="prev">
          Previous
        </a>
      )}
      {olderHref === null ? null : (
        <a class="button small" href={olderHref} rel="next">
          Next
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

/** A number beside a heading or a link. Above `most` it says so. */
export const Count = ({ of, most = 999 }: { readonly of: number; readonly most?: number }) => (
  <span class="count">{of > most ? `${most}+` : of}</span>
)

type FilterProps = {
  /** The address of the list, which the form asks for again with the choice. */
  readonly path: string
  readonly name: string
  readonly label: string
  /** The name of the choice that shows everything. */
  readonly all: string
  readonly options: readonly (readonly [value: string, words: string])[]
  readonly selected: string | null
}

/** Narrows a list to one value. */
export const Filter = ({ path, name, label, all, options, selected }: FilterProps) => (
  <form method="get" action={path} class="filter">
    <Choices name={name} label={label} all={all} options={options} selected={selected} />
    <button type="submit" class="outline">
      Show
    </button>
  </form>
)

/** A labelled list to choose one value from, or all. */
export const Choices = ({ name, label, all, options, selected }: Omit<FilterProps, 'path'>) => (
  <>
    <label for={name}>{label}</label>
    <select id={name} name={name}>
      <option value="" selected={selected === null}>
        {all}
      </option>
      {options.map(([value, words]) => (
        <option key={value} value={value} selected={value === selected}>
          {words}
        </option>
      ))}
    </select>
  </>
)

type SearchFormProps = {
  readonly path: string
  readonly name?: string
  readonly label: string
  readonly value: string
  readonly maxLength?: number
  readonly button?: string
}

/** Searches a list. The result has an address of its own, which can be kept and shared. */
export const SearchForm = ({ path, name = 'q', label, value, maxLength = 254, button = 'Search' }: SearchFormProps) => (
  <search>
    <form method="get" action={path} class="beside search">
      <label for={name} class="unseen">
        {label}
      </label>
      <input type="search" id={name} name={name} value={value} placeholder={label} maxLength={maxLength} />
      <button type="submit" class="secondary">
        {button}
      </button>
      {value === '' ? null : <a href={path}>Show all</a>}
    </form>
  </search>
)

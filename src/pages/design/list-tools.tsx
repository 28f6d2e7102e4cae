import type { ComponentChildren } from 'preact'
import type { Counted, TimeOrder } from '../../operations/page.ts'
import type { PlatformError } from '../../domain/errors.ts'
import type { ListField, ListPart, ShownList } from '../list.ts'
import { listPath } from '../query.ts'
import type { TicketBook } from '../visit.ts'
import { Field } from './field.tsx'

type FilterBarProps = {
  readonly of: ShownList
  /** The list of the page that it narrows, if there are several. */
  readonly part?: string
  readonly button?: string
  /** Tells several filters of one page apart. */
  readonly label?: string
  /** False for a list that has nothing to narrow. A filter that is set is shown all the same. */
  readonly isShown?: boolean
}

/** Narrows a list. The result has an address of its own, which can be kept and shared. */
export const FilterBar = ({ of, part, button, label, isShown = true }: FilterBarProps) => {
  const { path, texts, values } = of
  const fields = Object.entries(of.fields).filter(
    ([name, { control, isLinked }]) =>
      (part === undefined || of.parts[part]?.includes(name) === true) &&
      control !== 'tabs' &&
      (isLinked !== true || texts[name] !== ''),
  )
  const own = new Set(fields.map(([name]) => name))
  const others = Object.entries(texts).filter(([name, value]) => !own.has(name) && value !== '')
  const isSet = [...own].some((name) => texts[name] !== '')
  if (!isShown && !isSet) return null
  return (
    <search aria-label={label}>
      <form method="get" action={path} class="filter-bar">
        {others.map(([name, value]) => (
          <input key={name} type="hidden" name={name} value={value} />
        ))}
        {fields.map(([name, field]) => (
          <div key={name} class={`filter-field ${field.control === 'oneOf' ? 'choice' : field.control}`}>
            <Control name={name} field={field} value={values[name] ?? ''} />
          </div>
        ))}
        <button type="submit">
          {button ?? (fields.every(([, { control }]) => control === 'search') ? 'Search' : 'Filter')}
        </button>
        {isSet ? <a href={listPath(path, Object.fromEntries(others))}>Clear</a> : null}
      </form>
    </search>
  )
}

/** Whether a list that is usually short is long enough to search in it. */
export const isLong = ({
  rows,
  newerHref = null,
}: {
  readonly rows: readonly unknown[]
  readonly newerHref?: string | null
}) => newerHref !== null || rows.length >= manyRows

/** A list that is shorter needs no search. */
const manyRows = 10

type ControlProps = { readonly name: string; readonly field: ListField; readonly value: string }

const Control = ({ name, field, value }: ControlProps) => {
  const { control, label, all, options, maxLength = 254 } = field
  if (control === 'choice' || control === 'oneOf' || control === 'tabs') {
    return (
      <Choices
        name={name}
        label={label}
        {...(all === undefined ? {} : { all })}
        options={options(value)}
        selected={value}
      />
    )
  }
  const type = typeOf(field, value)
  const shared = { id: name, name, value, autocomplete: 'off' }
  return (
    <>
      <label for={name}>{label}</label>
      {type === 'date' ? <input type="date" {...shared} /> : null}
      {type === 'search' ? <input type="search" maxLength={maxLength} {...shared} /> : null}
      {type === 'text' ? <input type="text" maxLength={maxLength} {...shared} /> : null}
    </>
  )
}

/** An address may have a time of day, of which a control for dates would show nothing. */
const typeOf = ({ control }: ListField, value: string) =>
  control !== 'date' || /^(\d{4}-\d\d-\d\d)?$/.test(value) ? control : 'text'

type FilterFormProps = { readonly of: ShownList; readonly error: PlatformError | null; readonly label: string }

/** The same for a list with many fields, as a form of its own. A refused field has the reason beside it. */
export const FilterForm = ({ of, error, label }: FilterFormProps) => (
  <search aria-label={label}>
    <form method="get" action={of.path} class="event-filter">
      {Object.entries(of.fields).map(([name, field]) => {
        const { label: words, placeholder = '', maxLength = 254 } = field
        const value = of.values[name] ?? ''
        const type = typeOf(field, value)
        return type === 'text' || type === 'date' ? (
          <Field key={name} label={words} name={name} error={error} input={{ type, value, placeholder, maxLength }} />
        ) : (
          <div key={name} class="field">
            <Control name={name} field={field} value={value} />
          </div>
        )
      })}
      <div class="beside">
        <button type="submit">Show {label.toLowerCase()}</button>
        <a href={of.path}>Clear</a>
      </div>
    </form>
  </search>
)

export type PagerProps = {
  readonly of: ListPart<unknown>
  /** How many rows there are in all, if that is known. */
  readonly total?: number | Counted | null
  /** Tells several pagers of one page apart. */
  readonly pages?: string
}

/** Links to the previous and the next rows of a list; nothing for a list of one page whose total is unknown. */
export const Pager = ({ of: { rows, newerHref, olderHref }, total = null, pages = 'Pages' }: PagerProps) =>
  newerHref === null && olderHref === null && (total === null || rows.length === 0) ? null : (
    <nav class="pager" aria-label={pages}>
      <span class="pager-count">
        {total === null ? `${rows.length} shown` : `${rows.length} of ${countInWords(total)} shown`}
      </span>
      {newerHref === null ? null : (
        <a class="button small" href={newerHref} rel="prev">
          Previous
        </a>
      )}
      {olderHref === null ? null : (
        <a class="button small" href={olderHref} rel="next">
          {rows.length === 0 ? 'Continue the search' : 'Next'}
        </a>
      )}
    </nav>
  )

/** The order of a column, as `aria-sort` names it; null if the list is not sorted by it. */
export type Direction = 'ascending' | 'descending' | null

type InTimeOrder = {
  readonly values: { readonly sort: TimeOrder }
  readonly with: (change: { readonly sort: TimeOrder }) => string
}

/** The heading of a column of times, which turns the order of the list round. */
export const timeSort = ({ values: { sort }, with: addressWith }: InTimeOrder) =>
  ({
    href: addressWith({ sort: sort === 'newest' ? 'oldest' : 'newest' }),
    direction: sort === 'newest' ? 'descending' : 'ascending',
  }) as const

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
  { olderHref, isFiltered, refusal }: ListPart<unknown>,
  nothing: ComponentChildren = null,
): ComponentChildren => {
  if (refusal !== null) return 'Correct the filter above to search.'
  if (olderHref !== null) return 'No match so far.'
  return isFiltered ? 'Nothing matches. Change or clear the filters.' : nothing
}

type ChoicesProps = {
  readonly name: string
  readonly label: string
  /** The name of the choice that shows everything. */
  readonly all?: string
  readonly options: readonly (readonly [value: string, words: string])[]
  /** Empty for all. */
  readonly selected: string
}

/** A labelled list to choose one value from, or all. */
export const Choices = ({ name, label, all, options, selected }: ChoicesProps) => (
  <>
    <label for={name}>{label}</label>
    <select id={name} name={name}>
      {all === undefined ? null : (
        <option value="" selected={selected === ''}>
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
  readonly of: ShownList
  /** Its rows on this page. Nothing is not exported. */
  readonly part: ListPart<unknown>
  readonly what: string
}

/** A button that downloads a list with its filters as CSV. It can be pressed again, unlike other forms. */
export const ExportForm = ({ visit, of: { path, texts }, part, what }: ExportFormProps) =>
  part.rows.length === 0 ? null : (
    <form method="post" action={`${path}/export`} class="export">
      <input type="hidden" name="ticket" value={visit.tickets.issue(`${path}/export`)} />
      {Object.entries(texts).map(([name, value]) =>
        value === '' ? null : <input key={name} type="hidden" name={name} value={value} />,
      )}
      <button type="submit" class="small">
        Export these {what} as CSV
      </button>
    </form>
  )

type EmptyStateProps = {
  readonly title: string
  /** What will be here, and how it gets here. */
  readonly children?: ComponentChildren
  /** The link or form that makes the first one. */
  readonly action?: ComponentChildren
}

/** Shown where a list or a page has nothing yet. */
export const EmptyState = ({ title, children, action }: EmptyStateProps) => (
  <div class="empty-state">
    <p class="empty-title">{title}</p>
    {children === undefined ? null : <div class="empty-about">{children}</div>}
    {action === undefined ? null : <div class="empty-action">{action}</div>}
  </div>
)

/** What a list shows instead of its rows: a sentence, or an `EmptyState`. */
export const Nothing = ({ words }: { readonly words: ComponentChildren }) => {
  if (words === undefined || words === null) return null
  return typeof words === 'string' ? <p class="nothing">{words}</p> : <>{words}</>
}

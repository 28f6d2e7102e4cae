import { badInput } from '../operations/decide.ts'
import type { Static, TProperties } from '@sinclair/typebox'
import type { PlatformError } from '../domain/errors.ts'
import { refuseRepeated, wireCursor } from '../http/wire.ts'
import type { Rule } from '../operations/acting-as.ts'
import type { Page, PageRequest } from '../operations/page.ts'
import { filledPath, pageFor, type ParamsOf, paramsOf, type Routes } from './change.tsx'
import { type CsvColumns, csvDownload } from './csv-download.ts'
import { formOf, type FormShape, optionalText, outcomeOf, receive } from './form.ts'
import { doing } from './proof.ts'
import { backMark, listPart, listPath } from './query.ts'
import type { ForWhom, Visit } from './visit.ts'
import { readMoment } from './words.ts'

// A list is described once, by its name, its address and its fields. From the fields come what the address asks for, the filter
// bar, the pager, the sentence of a list without rows, the addresses of links to the list, and the file. To add a
// filter, add a field, and use its value where the list asks the store: inside `found`, if the value can be refused there.

/** A choice: its value in the address, and what a page calls it. */
export type Option<T extends string = string> = readonly [value: T, words: string]

/** A field of a list: a parameter of its address. */
export type ListField<Value extends string | null = string | null> = {
  /** `choice` may be left open, of `oneOf` and `tabs` one is always chosen. Tabs stand above the bar, as links. */
  readonly control: 'search' | 'text' | 'date' | 'choice' | 'oneOf' | 'tabs'
  readonly label: string
  /** What a text of the address stands for; undefined if the field does not have it. */
  readonly valueOf: (text: string) => Value | undefined
  /** What can be chosen. A text of the address that no page offers can be among them. */
  readonly options: (text: string) => readonly Option[]
  /** What a choice that is left open is called. */
  readonly all?: string
  readonly maxLength?: number
  readonly placeholder?: string
  /** Only links set it: the bar has it only while it is set. */
  readonly isLinked?: true
}

type Texting = Pick<ListField, 'maxLength' | 'placeholder' | 'isLinked'>

const typed =
  (control: 'search' | 'text' | 'date') =>
  (label: string, more: Texting = {}): ListField<string> => ({
    ...more,
    control,
    label,
    valueOf: (text) => text,
    options: () => [],
  })

/** A part of a name or address to look for. */
export const search = typed('search')
/** A whole value. */
export const entry = typed('text')
/** A day. */
export const date = typed('date')

type Options<T extends string> = readonly Option<T>[] | ((text: string) => readonly Option<T>[])

const optionsFor = <T extends string>(options: Options<T>) => (typeof options === 'function' ? options : () => options)

/** One of these, or all. */
export const choice = <const T extends string>(
  label: string,
  options: Options<T>,
  all = 'All',
): ListField<T | null> => ({
  control: 'choice',
  label,
  all,
  options: optionsFor(options),
  valueOf: (text) => (text === '' ? null : valueIn(optionsFor(options)(text), text)),
})

const always =
  (control: 'oneOf' | 'tabs') =>
  <const T extends string>(label: string, options: readonly Option<T>[]): ListField<T> => ({
    control,
    label,
    options: () => options,
    valueOf: (text) => valueIn(options, text),
  })

/** One of these. The first one is the usual one, unless the list says otherwise. */
export const oneOf = always('oneOf')
/** The same, as links above the list with the number of rows of each. */
export const tabs = always('tabs')
/** The order of the rows. */
export const order = <const T extends string>(options: readonly Option<T>[]) => oneOf('Order', options)

const valueIn = <T extends string>(options: readonly Option<T>[], text: string): T | undefined =>
  options.find(([value]) => value === text)?.[0]

/** The orders of a list by time. */
export const timeOrders = [
  ['newest', 'Newest first'],
  ['oldest', 'Oldest first'],
] as const

type ListFields = Readonly<Record<string, ListField>>
type Texts<F extends ListFields> = { readonly [Name in keyof F]: string }
/** What the address asks for, by the names of the fields. */
export type ListValues<F extends ListFields> = {
  readonly [Name in keyof F]: Exclude<ReturnType<F[Name]['valueOf']>, undefined>
}
/** Some of the fields. A link has only parameters and values that the list has. */
type Filters<F extends ListFields> = {
  readonly [Name in keyof F]?: Exclude<ReturnType<F[Name]['valueOf']>, undefined | null>
}

type Rules<F extends ListFields, Part extends string> = {
  /** What is chosen where the address says nothing, if it is not always the first. */
  readonly usual?: (texts: Texts<F>) => Filters<F>
  /** For a page with several lists: the parameter of the cursor of each, and the fields that narrow it. */
  readonly parts?: Readonly<Record<Part, readonly (keyof F & string)[]>>
}

type Params<Path extends string> = Path extends `${string}/:${string}` ? [params: ParamsOf<Path>] : []
/** A page with one list does not name it. */
type PartName<Part extends string> = 'cursor' extends Part ? [] : [part: Part]

/** A list, described once. `Part` is the parameter of its cursor, or those of several lists on one page. */
export type List<Path extends string, F extends ListFields, Part extends string> = {
  /** The name in its cursors. No other list has it. */
  readonly name: string
  readonly path: Path
  readonly fields: F
  /** The address with these filters. */
  readonly to: (filters: Filters<F>, ...params: Params<Path>) => string
  /** What the address asks for. @throws invalid_request for a parameter that comes twice or has a value that the list does not have */
  readonly read: (visit: Pick<Visit, 'call'>, ...params: Params<Path>) => AskedList<F, Part>
  /** The form that asks for its file. */
  readonly form: FormShape<TProperties>
  /** What that form asks for. @throws invalid_request as `read` does */
  readonly ofForm: (fields: Static<FormShape<TProperties>['schema']>) => ListValues<F>
}

/** What a bar, a pager and an export need to know of a list that was asked for. */
export type ShownList = {
  /** Its address without parameters. */
  readonly path: string
  readonly fields: ListFields
  /** The parameters of its address. What is usual is empty. */
  readonly texts: Readonly<Record<string, string>>
  readonly values: Readonly<Record<string, string | null>>
  /** The fields of each part. */
  readonly parts: Readonly<Record<string, readonly string[]>>
}

/** A list as an address asks for it. */
type AskedList<F extends ListFields, Part extends string> = ShownList & {
  readonly values: ListValues<F>
  /** The address of its beginning with these filters changed. */
  readonly with: (change: Filters<F>) => string
  /** Its rows. @throws what `read` throws; invalid_request for a cursor of another list */
  readonly rows: <Row>(read: ReadRows<Row>, ...part: PartName<Part>) => Promise<ListPart<Row>>
  /** The same. A refusal that the person can correct is in the part. */
  readonly found: <Row>(read: ReadRows<Row>, ...part: PartName<Part>) => Promise<ListPart<Row>>
}

type ReadRows<Row> = (window: PageRequest) => Promise<Page<Row> & { readonly previousCursor?: string | null }>

/** Some rows of a list, and the addresses of the previous and the next ones; null at its ends. */
export type ListPart<Row> = {
  readonly rows: readonly Row[]
  readonly newerHref: string | null
  readonly olderHref: string | null
  /** Whether a filter narrows it. */
  readonly isFiltered: boolean
  /** Why it was not read. */
  readonly refusal: PlatformError | null
}

/** Describes a list. */
export const list = <const Path extends string, const F extends ListFields, const Part extends string = 'cursor'>(
  name: string,
  path: Path,
  fields: F,
  rules: Rules<F, Part> = {},
): List<Path, F, Part> => {
  const names = Object.keys(fields)
  const parts: ShownList['parts'] = rules.parts ?? { cursor: names }
  const pathOf = ([params]: readonly unknown[]): string => filledPath(path, params)
  return {
    name,
    path,
    fields,
    to: (filters, ...params) => listPath(pathOf(params), filters),
    form: formOf(Object.fromEntries(names.map((field) => [field, optionalText]))),
    ofForm: (sent) => resolve(fields, rules, sent).values,
    read: (visit, ...params) => {
      const { request } = visit.call
      refuseRepeated(request, names)
      const { values, texts } = resolve(fields, rules, Object.fromEntries(new URL(request.url).searchParams))
      const shown: ShownList = { path: pathOf(params), fields, texts, values, parts }
      const plain: ShownList['values'] = resolve(fields, rules, {}).values
      const rows = async <Row>(read: ReadRows<Row>, ...[part = 'cursor']: readonly string[]) => ({
        ...(await readPart(visit, name, shown, part, read)),
        isFiltered: (parts[part] ?? []).some((field) => narrows(field, shown, plain)),
        refusal: null,
      })
      return {
        ...shown,
        values,
        with: (change) => listPath(shown.path, resolve(fields, rules, { ...texts, ...change }).texts),
        rows,
        found: async (read, ...part) => {
          const outcome = await outcomeOf(rows(read, ...part))
          return outcome.kind === 'done' ? outcome.value : { ...unread, refusal: outcome.error }
        },
      }
    },
  }
}

const unread = { rows: [], newerHref: null, olderHref: null, isFiltered: true } as const

/**
 * What these texts ask for, and the parameters that say it. A usual choice is left out. Tabs whose usual one depends on other
 * fields are always said, because the bar can change those.
 */
const resolve = <F extends ListFields, Part extends string>(
  fields: F,
  { usual }: Rules<F, Part>,
  given: Readonly<Record<string, unknown>>,
) => {
  const typedIn = (name: string): string => (typeof given[name] === 'string' ? given[name].trim() : '')
  const chosen: Readonly<Record<string, string | undefined>> = usual?.(mapped<F, Texts<F>>(fields, typedIn)) ?? {}
  const texts: Record<string, string> = {}
  const values = mapped<F, ListValues<F>>(fields, (name, { control, options, valueOf }) => {
    const usualOne = control === 'oneOf' || control === 'tabs' ? (chosen[name] ?? options('')[0]?.[0] ?? '') : ''
    const value = valueOf(typedIn(name) === '' ? usualOne : typedIn(name))
    if (value === undefined) throw badInput(name, 'This filter does not have this value.')
    const isSaid = value !== usualOne || (control === 'tabs' && chosen[name] !== undefined)
    texts[name] = isSaid ? (value ?? '') : ''
    return value
  })
  return { values, texts }
}

/** What each field gives, by the names of the fields. TypeScript cannot see that the names stay the same. */
const mapped = <F extends ListFields, Of extends { readonly [Name in keyof F]: unknown }>(
  fields: F,
  of: (name: string, field: ListField) => unknown,
): Of => {
  const found = Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, of(name, field)]))
  if (!hasNamesOf<F, Of>(fields, found)) throw new Error('A field has no value.')
  return found
}

const hasNamesOf = <F extends ListFields, Of>(fields: F, found: object): found is Of & object =>
  Object.keys(fields).every((name) => Object.hasOwn(found, name))

/** Whether a field narrows its list. An order does not, and neither do the tabs that a list begins with. */
const narrows = (name: string, { fields, values }: ShownList, plain: ShownList['values']): boolean => {
  const control = fields[name]?.control
  if (control === 'tabs') return values[name] !== plain[name]
  return control !== 'oneOf' && (values[name] ?? '') !== ''
}

const readPart = async <Row>(
  visit: Pick<Visit, 'call'>,
  list: string,
  { path, fields, texts, values }: ShownList,
  part: string,
  read: ReadRows<Row>,
): Promise<Pick<ListPart<Row>, 'rows' | 'newerHref' | 'olderHref'>> => {
  // A position means something in one order only.
  const orders = Object.keys(fields).filter((name) => fields[name]?.control === 'oneOf')
  const cursors = [list, ...(part === 'cursor' ? [] : [part]), ...orders.map((name) => values[name])].join('-')
  const window = listPart(visit, cursors, part)
  const { data, nextCursor, previousCursor = null } = await read(window)
  const hrefOf = (position: string | null): string | null => {
    const cursor = wireCursor(cursors, position)
    return cursor === null ? null : listPath(path, { ...texts, [part]: cursor })
  }
  const back = previousCursor === null ? null : hrefOf(backMark + previousCursor)
  // The rows may be gone. Then the list can only be read from its beginning.
  const isBeyond = window.cursor !== null && data.length === 0
  return { rows: data, newerHref: back ?? (isBeyond ? listPath(path, texts) : null), olderHref: hrefOf(nextCursor) }
}

type ListRoutesOf<Path extends string, F extends ListFields, Row> = {
  readonly by: ForWhom
  readonly show: (visit: Visit, params: ParamsOf<Path>) => Promise<Response>
  /** The list as a file, with its filters and in its order. */
  readonly csv?: {
    /** The rule that must hold while the file is sent. */
    readonly may: (params: ParamsOf<Path>) => Rule
    /** Its name without the day. */
    readonly name: (params: ParamsOf<Path>) => string
    readonly columns: CsvColumns<Row>
    readonly rows: (
      visit: Visit,
      values: ListValues<F>,
      params: ParamsOf<Path>,
    ) => Promise<AsyncGenerator<readonly Row[]>>
  }
}

/** The page of a list, and its file. The route has the description of the list, from which tests try every filter. */
export const listRoutes =
  <const Path extends string, F extends ListFields, Part extends string, Row = never>(
    of: List<Path, F, Part>,
    { by, show, csv }: ListRoutesOf<Path, F, Row>,
  ): Routes =>
  (app, door) => {
    const path: string = of.path
    pageFor(by, of.path, show, describes(of))(app, door)
    if (csv === undefined) return
    app.post(
      `${path}/export`,
      async ({ request, params: found }) => {
        const { visit, fields } = await receive(door, request, of.form, { by, effect: 'reads' })
        const params = paramsOf<Path>(of.path, found)
        const rows = await csv.rows(visit, of.ofForm(fields), params)
        return csvDownload(visit, csv.name(params), csv.columns, rows, csv.may(params))
      },
      doing('reads'),
    )
  }

/** What a route says of the list that its page shows. */
export const describes = (of: Pick<List<string, ListFields, string>, 'name' | 'fields'>) => ({
  detail: { hide: true, list: of },
})

/** The two filters of a list that can be narrowed to a period. */
export const periodFields = { since: date('From (UTC)'), until: date('Before (UTC)') } as const

/**
 * The period that they name, in UTC. Call it inside `found` of the list, so that a refusal is told beside the filter.
 * @throws invalid_request, naming the filter, for what is no time, and for a period that ends before it begins
 */
export const periodOf = (fields: { readonly since: string; readonly until: string }) => {
  const since = momentOf(fields.since, 'since')
  const until = momentOf(fields.until, 'until')
  if (since !== null && until !== null && since >= until) {
    throw badInput('until', 'The end must be after the beginning. A day begins at 00:00 UTC.')
  }
  return { since, until }
}

const momentOf = (text: string, param: string): number | null => (text === '' ? null : timeOf(text, param))

/** The time in a field, in UTC. @throws invalid_request, naming the field, for what is no time */
export const timeOf = (text: string, param: string): number => {
  const moment = readMoment(text)
  if (moment !== null) return moment
  if (/^\d{4}-\d\d-\d\d(?:[T ][\d:]+)?$/.test(text)) throw badInput(param, 'There is no such day or time.')
  throw badInput(param, 'Write a time as 2026-08-01 or 2026-08-01T12:00, in UTC.')
}

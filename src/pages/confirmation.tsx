import type { TProperties } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { Elysia } from 'elysia'
import type { ComponentChildren } from 'preact'
import type { PlatformError } from '../domain/errors.ts'
import type { Door } from '../http/door.ts'
import { badInput } from '../operations/decision.ts'
import { type Area, navigationAbove } from './area.ts'
import { type Affected, ConfirmationPage } from './design/confirmation.tsx'
import { Layout } from './design/shell.tsx'
import { answerForm, type FormShape, receiveFromOperator, receiveFromUser, type Submission, textOf } from './form.ts'
import { page, seeOther } from './page.ts'
import { requireOperator, requireVisit, type Visit } from './visit.ts'

/**
 * What ends something, or cannot be undone, is asked first. `GET` of its address shows a page that says what will happen to how
 * many, and `POST` to the same address does it. Every such step is defined with `confirmed`, in `confirmations.tsx` of its area.
 */

/** The parameters of a route by its pattern. */
type ParamsOf<Path extends string> = Path extends `${string}/:${infer Name}/${infer Rest}`
  ? { readonly [Key in Name]: string } & ParamsOf<`/${Rest}`>
  : Path extends `${string}/:${infer Name}`
    ? { readonly [Key in Name]: string }
    : unknown

/** What the page asks, and says before the answer. */
export type Question<T extends TProperties = TProperties> = {
  readonly title: string
  readonly belongsTo?: string
  readonly says: ComponentChildren
  readonly counts?: readonly Affected[]
  /** Null if it cannot be done; the page says why. */
  readonly button: string | null
  /** `harmless` if nothing ends and the step can be undone: the button is not red. */
  readonly tone?: 'ending' | 'harmless'
  /** Further fields, with what was sent before and why it was refused. */
  readonly fields?: (sent: Submission<T>['fields'] | null, error: PlatformError | null) => ComponentChildren
}

/** Where a confirmation page was opened, and where its result is shown. The page of what it belongs to needs no name. */
type Place = { readonly href: string; readonly name?: string }

type Confirmed<Path extends string, T extends TProperties> = {
  readonly area: Area
  readonly form: FormShape<T>
  readonly back: (params: ParamsOf<Path>) => Place
  /** What is said when the form was sent before. */
  readonly again?: string
  /** The name that must be typed, for what is gravest; null when none. @throws route_not_found */
  readonly typeName?: (visit: Visit, params: ParamsOf<Path>) => Promise<string | null>
  /**
   * What the page says. `given` reads a parameter of the address, or the field of that name once the form was sent.
   * @throws route_not_found for what this person may not end
   */
  readonly ask: (visit: Visit, params: ParamsOf<Path>, given: (name: string) => string) => Promise<Question<T>>
  /**
   * Does it, or asks again with the fields as they were sent. `back` redirects to the page that the confirmation was opened
   * from, with a notice.
   */
  readonly act: (
    submission: Submission<T>,
    params: ParamsOf<Path>,
    back: (done: string) => Response,
  ) => Promise<Response | 'again'>
}

/** The two routes of a step that is confirmed first. On the desk only operators reach them. */
export const confirmed = <const Path extends string, T extends TProperties>(
  door: Door,
  path: Path,
  { area, form, back, again, typeName, ask, act }: Confirmed<Path, T>,
) => {
  const section = area.key
  const isDesk = section === 'desk'
  const pattern: string = path

  const show = async (visit: Visit, params: ParamsOf<Path>, given: Given, refused: Refused<T> | null) => {
    const { fields, ...question } = await ask(visit, params, given)
    const name = (await typeName?.(visit, params)) ?? null
    const { href, name: nameOfPlace } = back(params)
    const error = refused?.error ?? null
    const [above = ''] = href.split('?')
    return page(
      <ConfirmationPage
        {...question}
        typeName={name}
        visit={visit}
        section={section}
        nav={await navigationAbove(area, visit, slugOf(params), above)}
        fields={fields?.(refused?.fields ?? keptFields(visit, form), error)}
        back={{ name: nameOfPlace, href: placeOf(href, given('from')) }}
        action={visit.call.path}
        error={error}
      />,
      { refusal: error },
    )
  }

  return new Elysia()
    .get(pattern, async ({ request, params: found }) => {
      const visit = await (isDesk ? requireOperator : requireVisit)(door, request)
      const { searchParams } = new URL(request.url)
      return await show(visit, paramsOf(path, found), (name) => searchParams.get(name) ?? '', null)
    })
    .post(pattern, async ({ request, params: found }) => {
      const receive = isDesk ? receiveFromOperator : receiveFromUser
      const submission = await receive(door, request, form)
      const { visit, fields, sent } = submission
      const params = paramsOf(path, found)
      const given: Given = (name) => textOf(sent[name])
      const place = placeOf(back(params).href, given('from'))
      const acted = async () => {
        const name = (await typeName?.(visit, params)) ?? null
        if (name !== null && given('typed').trim() !== name) throw badInput('typed', otherName)
        return await act(submission, params, (done) => seeOther(withDone(place, done)))
      }
      return await answerForm(acted(), {
        done: async (answer) =>
          answer === 'again' ? await show(visit, params, given, { fields, error: null }) : answer,
        refused: async (error) => await show(visit, params, given, { fields, error }),
        sentBefore: () =>
          sentBefore({
            visit,
            section,
            href: place,
            name: `Go to: ${back(params).name ?? 'the page that it was opened from'}`,
            ...(again === undefined ? {} : { message: again }),
          }),
      })
    })
}

const otherName = 'This does not match. Nothing was done.'

/** The fields as they were when the session ended; null without them. */
const keptFields = <T extends TProperties>({ kept, call }: Visit, form: FormShape<T>) => {
  const values = { ...kept?.values, ticket: '' }
  return kept?.action === call.path && Value.Check(form.schema, values) ? values : null
}

type Given = (name: string) => string
type Refused<T extends TProperties> = { readonly fields: Submission<T>['fields']; readonly error: PlatformError | null }

/** The page that a confirmation was opened from, with its filters. Any other address is replaced by the page's own. */
const placeOf = (href: string, from: string): string => {
  const [path = ''] = href.split('?')
  return from.startsWith(`${path}?`) && /^[\x21-\x5b\x5d-\x7e]*$/.test(from) ? from : href
}

const withDone = (place: string, done: string): string => {
  const [path = '', query = ''] = place.split('?')
  const parameters = new URLSearchParams(query)
  parameters.set('done', done)
  return `${path}?${parameters.toString()}`
}

/** The address of a confirmation page, which leads back to this page with its filters. */
export const confirmPath = (path: string, { call: { request } }: Pick<Visit, 'call'>): string => {
  const { pathname, searchParams } = new URL(request.url)
  searchParams.delete('done')
  const query = searchParams.toString()
  if (query === '') return path
  return `${path}${path.includes('?') ? '&' : '?'}${new URLSearchParams({ from: `${pathname}?${query}` }).toString()}`
}

const paramsOf = <Path extends string>(path: Path, found: object): ParamsOf<Path> => {
  if (!hasParams(path, found)) throw new Error(`The route ${path} has other parameters.`)
  return found
}

/** The app that an address is about; empty if it is about none. */
const slugOf = (params: unknown): string =>
  typeof params === 'object' && params !== null && 'slug' in params ? String(params.slug) : ''

const hasParams = <Path extends string>(path: Path, found: object): found is ParamsOf<Path> & object =>
  path
    .split('/')
    .filter((part) => part.startsWith(':'))
    .every((part) => Object.hasOwn(found, part.slice(1)))

type SentBefore = {
  readonly visit: Visit
  readonly section?: Area['key']
  readonly message?: string
  readonly href: string
  readonly name: string
}

/** The answer to a form that was sent before: nothing was done again, and the link leads to the result. */
export const sentBefore = ({ visit, section = 'console', message = nothingDoneAgain, href, name }: SentBefore) =>
  page(
    <Layout title="Already done" visit={visit} section={section} width="narrow">
      <p>{message}</p>
      <p>
        <a href={href}>{name}</a>
      </p>
    </Layout>,
    { status: 409 },
  )

const nothingDoneAgain = 'This form was sent before, and nothing was done a second time.'

/** What it says about a form whose first answer led to a secret. */
export const secretShownBefore = (advice: string): string =>
  `${nothingDoneAgain} Only the first answer showed the secret. If you did not copy it, ${advice}.`

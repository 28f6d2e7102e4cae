import type { TProperties } from '@sinclair/typebox'
import type { ComponentChildren } from 'preact'
import { badInput } from '../operations/decide.ts'
import {
  type Area,
  filledPath,
  formPage,
  navigationAbove,
  type ParamsOf,
  paramsOf,
  type Routes,
  routes,
} from './change.tsx'
import { type Affected, ConfirmationPage } from './design/confirmation.tsx'
import { Row, RowList } from './design/row-list.tsx'
import { emptyForm, type FormShape, type Submission, textOf } from './form.ts'
import { page, seeOther } from './page.ts'
import { askFirst, type Effect } from './proof.ts'
import type { Notices } from './query.ts'
import type { Visit } from './visit.ts'

/**
 * What ends something, hands it over or cannot be undone is asked first, on a page of its own that a link leads to. `GET` of its
 * address shows what will happen to how many, and `POST` to the same address does it. One record has all of such a step: its address,
 * the link to it and when it is possible, the question, the deed, what is said when it is done, and what it does, which says whether
 * the person must prove that it is them. A step takes from the share of the session, so that no other session can use up what it
 * needs.
 */

/** What steps are about, such as one app: steps have addresses below its root. `Of` is what is known about it. */
export type Subject<Root extends string, Of> = {
  readonly area: Area
  /** The pattern of the addresses. */
  readonly root: Root
  /** @throws route_not_found for what this person may not see */
  readonly find: (visit: Visit, params: ParamsOf<Root>) => Promise<Of>
  /** The app or the thing that the page belongs to, for its title. */
  readonly belongsTo?: (of: Of) => string
  /**
   * The page that its steps are opened from and lead back to, if it is not that of the root. What it is about is not known once it is
   * done.
   */
  readonly back?: (params: ParamsOf<Root>, of?: Of) => Place
}

/** Where a step was opened, and where its result is shown. The page of what it belongs to needs no name. */
type Place = { readonly href: string; readonly name?: string }

/** What the page of a step asks, and says before the answer. */
export type Question = {
  readonly title: string
  readonly belongsTo?: string
  readonly says: ComponentChildren
  readonly counts?: readonly Affected[]
  readonly button: string
  /** `harmless` if nothing ends and the step can be undone: the button is not red. */
  readonly tone?: 'ending' | 'harmless'
  /** Further fields. */
  readonly fields?: ComponentChildren
}

/** The words of a link to a step, and what the step does. */
type Link = readonly [name: string, about?: string]

type StepRecord<Of, Params, T extends TProperties, Done extends Notices> = {
  readonly link: Link | ((of: Of) => Link)
  /**
   * What is the case if it is not possible now; null while it is. Pages link to it only while it is possible, and its own page asks only
   * then. The deed checks it again.
   */
  readonly unless?: (of: Of, visit: Visit) => ComponentChildren
  /** What it does, which says whether the person must prove again that it is them. */
  readonly effect: Effect
  /** Its fields, if it has more than its button. */
  readonly form?: FormShape<T>
  /** The name that must be typed, for what is gravest; null when none. */
  readonly types?: (of: Of, visit: Visit) => string | null
  /**
   * What the page asks, or what is the case instead. `given` reads a parameter of the address, or the field of that name once the form
   * was sent.
   * @throws route_not_found for what this person may not end
   */
  readonly ask: (
    visit: Visit,
    of: Of,
    params: Params,
    given: (name: string) => string,
  ) => Question | string | Promise<Question | string>
  /**
   * Does it. Answers which of the sentences of `done` is shown on the page that it was opened from, if there are several, or where else
   * its result is; or asks again with the fields as they were sent.
   */
  readonly act: (
    submission: Submission<T>,
    of: Of,
    params: Params,
  ) => Promise<(keyof Done & string) | Response | 'again' | object | number | void>
  /** What is said when it is done, by the name in the address. */
  readonly done: Done
  /** What is said when the form was sent before. */
  readonly again?: string
}

/** A step, for the pages that link to it and the server that serves it. */
export type Step<Of, Params> = {
  readonly link: (of: Of) => Link
  readonly isPossible: (of: Of, visit: Visit) => boolean
  readonly done: Notices
  /** Its address, which leads back to this page with its filters. */
  readonly href: (visit: Pick<Visit, 'call'>, params: Params, query?: Readonly<Record<string, string>>) => string
  readonly routes: Routes
}

/** The steps of a subject. If it has several roots, a page links to the steps below its own. */
export const stepsOf =
  <const Root extends string, Of>(...subjects: readonly Subject<Root, Of>[]) =>
  <const Path extends string, T extends TProperties, const Done extends Notices>(
    path: Path,
    step: StepRecord<Of, ParamsOf<`${Root}/${Path}`>, T, Done>,
  ): Step<Of, ParamsOf<`${Root}/${Path}`>> => ({
    link: (of) => linkOf(step, of),
    isPossible: (of, visit) => becauseOf(step, of, visit) === null,
    done: step.done,
    href: (visit, params, query) => {
      const subject = subjects.find(({ area }) => visit.call.path.startsWith(`/${area.key}/`)) ?? subjects[0]
      const parameters = new URLSearchParams(query).toString()
      const address = filledPath(`${subject?.root}/${path}`, params)
      return confirmPath(parameters === '' ? address : `${address}?${parameters}`, visit)
    },
    routes: routes(() => subjects.map((subject) => routesOf(subject, path, step))),
  })

const linkOf = <Of,>({ link }: Pick<StepRecord<Of, never, never, never>, 'link'>, of: Of): Link =>
  typeof link === 'function' ? link(of) : link

const becauseOf = <Of,>({ unless }: Pick<StepRecord<Of, never, never, never>, 'unless'>, of: Of, visit: Visit) =>
  unless?.(of, visit) ?? null

/** The two routes of a step below one root. On the desk only operators reach them. */
const routesOf = <Root extends string, Of, Path extends string, T extends TProperties, Done extends Notices>(
  { area, root, find, belongsTo, back }: Subject<Root, Of>,
  path: Path,
  step: StepRecord<Of, ParamsOf<`${Root}/${Path}`>, T, Done>,
): Routes => {
  const pattern = `${root}/${path}` as const
  const backOf = (params: unknown, of?: Of): Place =>
    back?.(paramsOf<Root>(root, params), of) ?? { href: filledPath(root, params) }
  return formPage(pattern, {
    by: area.key === 'desk' ? 'operator' : 'user',
    effect: step.effect,
    shareOf: 'session',
    isPartOfPage: true, // a page that only says why it is not possible needs no proof
    form: step.form ?? onlyButton<T>(),
    show: async (visit, params) => {
      const given = givenTo(visit)
      const of = await find(visit, paramsOf<Root>(root, params))
      const { href, name } = backOf(params, of)
      const [above = ''] = href.split('?')
      const frame = {
        ...(belongsTo && { belongsTo: belongsTo(of) }),
        visit,
        section: area.key,
        nav: await navigationAbove(area, visit, slugOf(params), above),
        back: { name, href: placeOf(href, given('from')) },
      } as const
      const because = becauseOf(step, of, visit)
      const question = because === null ? await step.ask(visit, of, params, given) : null
      if (question === null || typeof question === 'string') {
        const says = visit.refused?.error == null ? <p>{question ?? because}</p> : null // the refusal says it already
        return page(<ConfirmationPage {...frame} title={linkOf(step, of)[0]} says={says} />)
      }
      await askFirst(visit, step.effect)
      const typeName = step.types?.(of, visit) ?? null
      return page(<ConfirmationPage {...frame} {...question} typeName={typeName} action={visit.call.path} />)
    },
    act: async (submission, params) => {
      const { visit, sent } = submission
      const of = await find(visit, paramsOf<Root>(root, params))
      const name = step.types?.(of, visit) ?? null
      if (name !== null && textOf(sent['typed']) !== name) throw badInput('typed', otherName)
      const place = placeOf(backOf(params).href, textOf(sent['from']))
      const answer = await step.act(submission, of, params)
      if (answer instanceof Response || isAgain(answer)) return answer
      const [only = ''] = Object.keys(step.done)
      return seeOther(withDone(place, typeof answer === 'string' ? answer : only))
    },
    again: ({ sent }, params) => ({
      section: area.key,
      href: placeOf(backOf(params).href, textOf(sent['from'])),
      name: `Go to: ${backOf(params).name ?? 'the page that it was opened from'}`,
      ...(step.again === undefined ? {} : { message: step.again }),
    }),
  })
}

/** The form of a step without fields, of which none is read. */
const onlyButton = <T extends TProperties>() => emptyForm as FormShape<TProperties> as FormShape<T>

const isAgain = (answer: unknown): answer is 'again' => answer === 'again'

const otherName = 'This does not match. Nothing was done.'

/** Reads what was sent, or before that the address. */
const givenTo = ({ refused, call }: Visit) => {
  const { searchParams } = new URL(call.request.url)
  return (name: string): string =>
    refused === undefined ? (searchParams.get(name) ?? '') : textOf(refused.values[name])
}

/** The page that a step was opened from, with its filters. Any other address is replaced by the page's own. */
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

/** The address of a step, which leads back to this page with its filters. */
const confirmPath = (path: string, { call: { request } }: Pick<Visit, 'call'>): string => {
  const { pathname, searchParams } = new URL(request.url)
  searchParams.delete('done')
  const query = searchParams.toString()
  if (query === '') return path
  return `${path}${path.includes('?') ? '&' : '?'}${new URLSearchParams({ from: `${pathname}?${query}` }).toString()}`
}

/** The app that an address is about; empty if it is about none. */
const slugOf = (params: unknown): string =>
  typeof params === 'object' && params !== null && 'slug' in params ? String(params.slug) : ''

/** What is said when one of these steps is done. */
export const noticesOf = (...steps: readonly Pick<Step<never, never>, 'done'>[]): Notices =>
  Object.assign({}, ...steps.map(({ done }) => done))

/** Serves these steps. */
export const stepRoutes = (...steps: readonly Pick<Step<never, never>, 'routes'>[]): Routes =>
  routes(() => steps.map((step) => step.routes))

type StepLinksProps<Of, Params> = {
  readonly visit: Visit
  readonly steps: readonly Step<Of, Params>[]
  readonly of: Of
  readonly params: Params
}

/** Links to the steps that are possible now, each with what it does. */
export const StepLinks = <Of, Params>({ visit, steps, of, params }: StepLinksProps<Of, Params>) => (
  <RowList
    rows={steps.filter(({ isPossible }) => isPossible(of, visit))}
    row={({ link, href }) => {
      const [name, about = null] = link(of)
      return <Row key={name} href={href(visit, params)} title={`${name}…`} facts={[about]} />
    }}
  />
)

type StepButtonProps<Of, Params> = {
  readonly visit: Visit
  readonly step: Step<Of, Params>
  readonly of: Of
  readonly params: Params
  readonly query?: Readonly<Record<string, string>>
  /** `small` in a row. */
  readonly look?: 'small'
  /** What screen readers say instead, if several links have the same words. */
  readonly label?: string
  /** What they say after the words. */
  readonly children?: ComponentChildren
}

/** A link to one step that looks like a button; nothing if the step is not possible. */
export const StepButton = <Of, Params>(props: StepButtonProps<Of, Params>) => {
  const { visit, step, of, params, query, look, label, children } = props
  if (!step.isPossible(of, visit)) return null
  return (
    <a
      class={look === undefined ? 'button' : `button ${look}`}
      href={step.href(visit, params, query)}
      aria-label={label}
    >
      {step.link(of)[0]}
      {children === undefined ? null : <span class="unseen">{children}</span>}
    </a>
  )
}

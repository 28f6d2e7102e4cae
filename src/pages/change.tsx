import type { Static, TProperties } from '@sinclair/typebox'
import type { Elysia } from 'elysia'
import { PlatformError } from '../domain/errors.ts'
import { callOf } from '../http/call.ts'
import type { Door } from '../http/door.ts'
import { environmentIn } from './chosen-environment.ts'
import { type AreaNavigation, wordsPage } from './design/shell.tsx'
import {
  answerForm,
  fieldsOf,
  type FormShape,
  keepable,
  readValues,
  receive,
  type Submission,
  ticketKey,
} from './form.ts'
import type { Values } from './kept-form.ts'
import { withRefusal } from './page.ts'
import { askFirst, doing, type Effect } from './proof.ts'
import { type ForWhom, requireVisit, type ShareOf, type Visit, type Visitor, visitorOf } from './visit.ts'

/** The parameters of a route by its pattern. */
export type ParamsOf<Path extends string> = Path extends `${string}/:${infer Name}/${infer Rest}`
  ? { readonly [Key in Name]: string } & ParamsOf<`/${Rest}`>
  : Path extends `${string}/:${infer Name}`
    ? { readonly [Key in Name]: string }
    : unknown

/** A form that changes something: the page that it is on, and what it does. */
export type FormChange<Path extends string, T extends TProperties> = {
  readonly by: ForWhom
  /** What it does at most, which says whether the person must prove again that it is them. */
  readonly effect: Effect
  /** Whose share it takes from; the account's if omitted. */
  readonly shareOf?: ShareOf
  /** The page has more than this form: it is shown without the proof, and the form on it says what is missing (`proveFirst`). */
  readonly isPartOfPage?: true
  readonly form: FormShape<T>
  /**
   * The page of the form. When the form is refused it is shown again, filled in and with the reason (`visit.refused`). `sent` has
   * all fields then, also those that are never filled in.
   */
  readonly show: (visit: Visit, params: ParamsOf<Path>, sent: Values) => Response | Promise<Response>
  /**
   * Does it, and answers with a redirect; or shows the form again, as it was sent. What it throws and a person can correct is
   * shown with the form.
   */
  readonly act: (submission: Submission<T>, params: ParamsOf<Path>) => Promise<Response | 'again'>
  /** For a form that acts only once: where its result is, when it is sent again. */
  readonly again?: (submission: Submission<T>, params: ParamsOf<Path>) => Again | Promise<Again>
}

/**
 * Adds what answers at some addresses of this server to the app. All are added to one app, because Elysia adds the routes of an app
 * within an app again at each level.
 */
export type Routes = (app: Elysia, door: Door) => void

/** All of these. They are not asked for before a server is put together, because a file names what follows further down in it. */
export const routes =
  (all: () => readonly Routes[]): Routes =>
  (app, door) => {
    for (const one of all()) one(app, door)
  }

/** A page that everybody may ask for. `says` is what its route says of it. */
export const openPage =
  <const Path extends string>(
    path: Path,
    show: (door: Door, request: Request, params: ParamsOf<Path>) => Response | Promise<Response>,
    says = {},
  ): Routes =>
  (app, door) =>
    app.get(
      path as string,
      async ({ request, params }) => await show(door, request, paramsOf<Path>(path, params)),
      says,
    )

/** A page of signed-in people. */
export const pageFor = <const Path extends string>(
  by: ForWhom,
  path: Path,
  show: (visit: Visit, params: ParamsOf<Path>) => Response | Promise<Response>,
  says = {},
): Routes =>
  openPage(path, async (door, request, params) => await show(await requireVisit(door, request, by), params), says)

/** A page with one form, which is sent to its own address if no other is named. */
export const formPage = <const Path extends string, T extends TProperties>(
  path: Path,
  { sentTo = path, ...change }: FormChange<Path, T> & { readonly sentTo?: string },
): Routes =>
  routes(() => [
    pageFor(change.by, path, async (visit, params) => {
      const shown = await change.show(visit, params, {}) // first, because a page that does not exist asks for nothing
      if (change.isPartOfPage === undefined) await askFirst(visit, change.effect)
      return shown
    }),
    changed<Path, T>(sentTo, change),
  ])

/** The address of a form that is on a page of another address. */
export const changed =
  <const Path extends string, T extends TProperties>(
    path: Path | string,
    { form, show, act, again, ...change }: FormChange<Path, T>,
  ): Routes =>
  (app, door) =>
    app.post(
      path as string,
      async ({ request, params: found }) => {
        const submission = await receive(door, request, form, change)
        const params = paramsOf<Path>(path, found)
        const { visit, sent } = submission
        visit.call.environment = environmentIn(sent)
        const showAgain = async (error: PlatformError | null) =>
          await show(
            { ...visit, refused: { action: visit.call.path, values: keepable(form, sent), error } },
            params,
            sent,
          )
        return await answerForm(act(submission, params), {
          done: async (answer) => (answer === 'again' ? await showAgain(null) : answer),
          refused: async (error) => withRefusal(await showAgain(error), error),
          ...(again && { sentBefore: async () => sentBefore(visit, await again(submission, params)) }),
        })
      },
      doing(change.effect),
    )

/** A form of somebody who is not signed in, checked. */
export type VisitorSubmission<Form> =
  Form extends FormShape<infer T>
    ? {
        readonly visitor: Visitor
        readonly fields: Static<FormShape<T>['schema']>
        /** The same before the check. */
        readonly sent: Values
      }
    : never

type VisitorChange<T extends TProperties> = {
  readonly form: FormShape<T>
  /** As of `FormChange`. */
  readonly show: (visitor: Visitor, sent: Values) => Response | Promise<Response>
  readonly act: (submission: VisitorSubmission<FormShape<T>>) => Promise<Response | 'again'>
}

/**
 * The address of a form of people who are not signed in. Its ticket proves only that this browser was shown the form, so one that is
 * not valid leaves no audit row, and the page is shown again.
 */
export const changedByVisitor =
  <T extends TProperties>(path: string, { form, show, act }: VisitorChange<T>): Routes =>
  (app, door) =>
    app.post(path, async ({ request }) => {
      const call = callOf(request)
      const sent = await readValues(call, form)
      const visitor = visitorOf(door, request)
      const showAgain = async (error: PlatformError | null) =>
        await show({ ...visitor, refused: { action: call.path, values: keepable(form, sent), error } }, sent)
      const ticket = ticketKey(door, call, visitor.tickets, form, sent)
      if (ticket instanceof PlatformError) return withRefusal(await showAgain(ticket), ticket)
      return await answerForm(act({ visitor, fields: fieldsOf(form, sent), sent }), {
        done: async (answer) => (answer === 'again' ? await showAgain(null) : answer),
        refused: async (error) => withRefusal(await showAgain(error), error),
      })
    })

/** What a request has for the parameters of its route. */
export const paramsOf = <Path extends string>(path: string, found: unknown): ParamsOf<Path> => {
  if (!hasParams<Path>(path, found)) throw new Error(`The route ${path} has other parameters.`)
  return found
}

const hasParams = <Path extends string>(path: string, found: unknown): found is ParamsOf<Path> =>
  path
    .split('/')
    .filter((part) => part.startsWith(':'))
    .every((part) => typeof found === 'object' && found !== null && Object.hasOwn(found, part.slice(1)))

/** The address of a pattern with these parameters. A version can contain `+`, so every part is escaped. */
export const filledPath = (pattern: string, params: unknown): string => {
  const given: Readonly<Record<string, unknown>> = { ...(typeof params === 'object' ? params : {}) }
  return pattern.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(given[name])))
}

export type Again = {
  readonly href: string
  readonly name: string
  readonly message?: string
  readonly section?: Area['key']
}

/** The answer to a form that was sent before: nothing was done again, and the link leads to the result. */
export const sentBefore = (
  visit: Visit,
  { section = 'console', message = nothingDoneAgain, href, name }: Again,
): Response =>
  wordsPage(visit, { title: 'Already done', says: message, to: [href, name], section, options: { status: 409 } })

const nothingDoneAgain = 'This form was sent before, and nothing was done a second time.'

/** What it says about a form whose first answer led to a secret. */
export const secretShownBefore = (advice: string): string =>
  `${nothingDoneAgain} Only the first answer showed the secret. If you did not copy it, ${advice}.`

/** A part of the site with pages of its own. */
export type Area = {
  readonly key: 'account' | 'apps' | 'console' | 'desk'
  /** Its pages. In the console they belong to the app with this slug. @throws route_not_found */
  readonly navigation: (visit: Visit, slug: string) => Promise<AreaNavigation>
}

/** The navigation around a page below `path`. The nearest page above is the current one. @throws route_not_found */
export const navigationAbove = async (area: Area, visit: Visit, slug: string, path: string) => {
  const { links, ...navigation } = await area.navigation(visit, slug)
  const above = links.filter((link) => path === link.path || path.startsWith(`${link.path}/`))
  const [nearest] = above.toSorted((one, other) => other.path.length - one.path.length)
  return { ...navigation, links, current: nearest?.path ?? '' }
}

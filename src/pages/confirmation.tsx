import type { TProperties } from '@sinclair/typebox'
import type { ComponentChildren } from 'preact'
import type { Door } from '../http/door.ts'
import { badInput } from '../operations/decide.ts'
import { type Area, formPage, navigationAbove, type ParamsOf } from './change.tsx'
import { type Affected, ConfirmationPage } from './design/confirmation.tsx'
import { type FormShape, type Submission, textOf } from './form.ts'
import { page, seeOther } from './page.ts'
import type { Proof } from './proof.ts'
import type { Visit } from './visit.ts'

/**
 * What ends something, or cannot be undone, is asked first. `GET` of its address shows a page that says what will happen to how
 * many, and `POST` to the same address does it. Every such step is defined with `confirmed`, in `confirmations.tsx` of its area. It
 * takes from the share of the session, so that no other session can use up what it needs.
 */

/** What the page asks, and says before the answer. */
export type Question = {
  readonly title: string
  readonly belongsTo?: string
  readonly says: ComponentChildren
  readonly counts?: readonly Affected[]
  /** Null if it cannot be done; the page says why. */
  readonly button: string | null
  /** `harmless` if nothing ends and the step can be undone: the button is not red. */
  readonly tone?: 'ending' | 'harmless'
  /** Further fields. */
  readonly fields?: ComponentChildren
}

/** Where a confirmation page was opened, and where its result is shown. The page of what it belongs to needs no name. */
type Place = { readonly href: string; readonly name?: string }

type Confirmed<Path extends string, T extends TProperties> = {
  readonly area: Area
  readonly proof: Proof
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
  readonly ask: (visit: Visit, params: ParamsOf<Path>, given: (name: string) => string) => Promise<Question>
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
  { area, proof, form, back, again, typeName, ask, act }: Confirmed<Path, T>,
) => {
  const section = area.key
  return formPage(door, path, {
    by: section === 'desk' ? 'operator' : 'user',
    proof,
    shareOf: 'session',
    form,
    show: async (visit, params) => {
      const given = givenTo(visit)
      const question = await ask(visit, params, given)
      const { href, name } = back(params)
      const [above = ''] = href.split('?')
      return page(
        <ConfirmationPage
          {...question}
          typeName={(await typeName?.(visit, params)) ?? null}
          visit={visit}
          section={section}
          nav={await navigationAbove(area, visit, slugOf(params), above)}
          back={{ name, href: placeOf(href, given('from')) }}
          action={visit.call.path}
        />,
      )
    },
    act: async (submission, params) => {
      const { visit, sent } = submission
      const name = (await typeName?.(visit, params)) ?? null
      if (name !== null && textOf(sent['typed']).trim() !== name) throw badInput('typed', otherName)
      const place = placeOf(back(params).href, textOf(sent['from']))
      return await act(submission, params, (done) => seeOther(withDone(place, done)))
    },
    again: ({ sent }, params) => ({
      section,
      href: placeOf(back(params).href, textOf(sent['from'])),
      name: `Go to: ${back(params).name ?? 'the page that it was opened from'}`,
      ...(again === undefined ? {} : { message: again }),
    }),
  })
}

const otherName = 'This does not match. Nothing was done.'

/** Reads what was sent, or before that the address. */
const givenTo = ({ refused, call }: Visit) => {
  const { searchParams } = new URL(call.request.url)
  return (name: string): string =>
    refused === undefined ? (searchParams.get(name) ?? '') : textOf(refused.values[name])
}

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

/** The app that an address is about; empty if it is about none. */
const slugOf = (params: unknown): string =>
  typeof params === 'object' && params !== null && 'slug' in params ? String(params.slug) : ''

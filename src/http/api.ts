import { whenNeeded } from '../runtime/when-needed.ts'
import type { BodyRule } from './admission.ts'
import type { Call } from './call.ts'
import type { Door } from './door.ts'
import type { RefusalPage } from './envelope.ts'
import { endpointsOf } from './table.ts'

/** What the shell does with a route itself: it checks the body's size and type, and answers the hot ones directly. */
export type RouteRule = {
  readonly body: BodyRule
  readonly answer: ((call: Call) => unknown) | null
  /** What every answer of `answer` has besides the headers of all routes. */
  readonly headers?: Readonly<Record<string, string>>
  /** The headers that each answer of `answer` gives a value, in `call.headers`. */
  readonly valueHeaders?: readonly string[]
  /** Whether no answer of `answer` has a body. */
  readonly isEmpty?: boolean
}

/** The rules of the table's routes. */
export const endpointRules = (door: Door): ((method: string, path: string) => RouteRule | undefined) => {
  const rules = new Map(
    endpointsOf(door).map(({ method, path, bodyRule, isHot, answer, ...rule }) => [
      `${method} ${path}`,
      { ...rule, body: bodyRule, answer: isHot ? (call: Call) => answer(door, call) : null },
    ]),
  )
  return (method, path) => rules.get(`${method} ${path}`)
}

/**
 * Everything that this server answers to programs. The shell answers hot endpoints without Elysia, which is loaded with the first call
 * of another one: it takes about 40 ms and 7 MB. The documents of the API come with the pages.
 */
export const createApi = (door: Door, refusalPage: RefusalPage = () => null) => {
  const load = whenNeeded(async () => (await import('./app.ts')).createHttpApp(door, refusalPage))
  return {
    app: {
      routes: endpointsOf(door).flatMap(({ method, path, isCrossOrigin }) =>
        [...(isCrossOrigin ? ['OPTIONS'] : []), method].map((each) => ({ method: each, path })),
      ),
      fetch: async (request: Request): Promise<Response> => await (await load()).fetch(request),
    },
    ruleOf: endpointRules(door),
  }
}

import { refuseRepeated } from '../../http/page-request.ts'

/**
 * What the address asks for under a name, without spaces around it; empty when it does not.
 * @throws invalid_request when it comes more than once
 */
export const queryOf = (request: Request, name: string): string => {
  refuseRepeated(request, [name])
  return (new URL(request.url).searchParams.get(name) ?? '').trim()
}

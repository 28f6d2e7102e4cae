import { PlatformError } from '../domain/errors.ts'

/** What came of a form: done, or refused for a reason that its page can show beside the field. */
export type Outcome<T> =
  { readonly kind: 'done'; readonly value: T } | { readonly kind: 'refused'; readonly error: PlatformError }

/** Waits for the call and gives a refusal that the person can mend as a value; throws all others. */
export const outcomeOf = async <T>(call: Promise<T>): Promise<Outcome<T>> => {
  try {
    return { kind: 'done', value: await call }
  } catch (error) {
    if (error instanceof PlatformError && isMendable(error)) return { kind: 'refused', error }
    throw error
  }
}

/** A session that is over is mended by signing in, not by the form. */
const isMendable = ({ status, code }: PlatformError): boolean =>
  [400, 403, 409, 422, 429].includes(status) || code === 'invalid_login'

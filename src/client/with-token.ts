import { AppPlatformError } from './app-platform-error.ts'
import { orAborted } from './wait.ts'

/** Where the tokens of an app or of a user come from. */
export type TokenSource<Token extends { readonly accessToken: string }> = {
  /** A token with some life left in it. @throws what asking for one throws */
  get(): Promise<Token>
  /** Another one than this, which the server no longer takes. @throws what asking for one throws */
  after(spent: Token): Promise<Token>
}

/** Makes a call with a token; once more with another one, if the server had ended the first before its time. */
export const withToken = async <Token extends { readonly accessToken: string }, T>(
  tokens: TokenSource<Token>,
  call: (bearer: string) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> => {
  const used = await orAborted(tokens.get(), signal)
  try {
    return await call(used.accessToken)
  } catch (error) {
    if (!(error instanceof AppPlatformError) || error.code !== 'invalid_token') throw error
    const { accessToken } = await orAborted(tokens.after(used), signal)
    return await call(accessToken)
  }
}

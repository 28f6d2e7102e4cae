import type { Door } from '../http/door.ts'
import { isFromSameOrigin } from '../http/session-cookie.ts'

/**
 * The sentence about what was just done, after a form has led here with `?done=…`. Only sentences of the page itself, and
 * only for who comes from a page of ours: a link elsewhere must not tell people that something was done.
 */
export const noticeOf = (door: Door, request: Request, sentences: Readonly<Record<string, string>>): string | null => {
  const done = new URL(request.url).searchParams.get('done')
  if (done === null || !Object.hasOwn(sentences, done) || !isFromSameOrigin(door, request)) return null
  return sentences[done] ?? null
}

import { onPostgres } from './postgres.ts'

/** How many seconds a client goes on asking. */
const patience = 30

/**
 * Sends a request as a client does that obeys `Retry-After`. Where a machine stalls for seconds, as one does that runs all tests at
 * once, a server on PostgreSQL cannot know that what it reads is up to date, and answers 503: nothing was done, ask again in a second.
 * On SQLite, and in `test/db/postgres/`, every 503 is looked at.
 */
export const fetchPatiently = async (target: string | URL, request: RequestInit = {}): Promise<Response> => {
  for (let second = 0; ; second += 1) {
    const response = await fetch(target, request)
    const isForNow = response.status === 503 && response.headers.get('retry-after') === '1'
    if (!onPostgres || !isForNow || second === patience || request.body instanceof ReadableStream) return response
    await response.body?.cancel()
    await Bun.sleep(1_000)
  }
}

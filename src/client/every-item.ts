import { AppPlatformError } from './app-platform-error.ts'

type Page<Item> = { readonly data: readonly Item[]; readonly nextCursor: string | null }

/** The items of all pages, one page asked for at a time and only when it is needed. */
export async function* everyItem<Item>(
  pageAfter: (cursor: string | undefined) => Promise<Page<Item>>,
): AsyncGenerator<Item, void> {
  for (let cursor: string | undefined; ;) {
    const { data, nextCursor } = await pageAfter(cursor)
    yield* data
    if (nextCursor === null) return
    if (nextCursor === cursor) throw new AppPlatformError('unexpected_answer', 'The list leads in a circle.')
    cursor = nextCursor
  }
}

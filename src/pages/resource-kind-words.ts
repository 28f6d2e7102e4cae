import type { ResourceKind } from '../domain/resource.ts'

/** What people call each kind of resource. */
export const resourceKindWords = { site: 'Website', store: 'Store' } as const satisfies Record<ResourceKind, string>

/** The same in the middle of a sentence. */
export const resourceKindInSentence = { site: 'website', store: 'store' } as const satisfies Record<
  ResourceKind,
  string
>

import type { ResourceKind } from '../domain/resource.ts'

/** What people call each kind of resource. */
export const resourceKindWords = { site: 'Website', store: 'Store' } as const satisfies Record<ResourceKind, string>

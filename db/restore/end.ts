/** How much of each was over, or taken away, in the predecessor and still in force in the backup. */
export type CarriedOver = {
  readonly credentials: number
  readonly apps: number
  readonly owners: number
  readonly users: number
  readonly emails: number
  readonly passwords: number
  readonly operators: number
  readonly installs: number
  readonly scopes: number
  readonly versions: number
  readonly redirectUris: number
  readonly webhooks: number
}

/** Something that a predecessor can tell. */
export type Told = {
  /** As `carried_ends` has it, for good. */
  readonly kind: string
  /** The table whose IDs are the targets. What leaves no row when it goes is named by the audit event of its making. */
  readonly of:
    'users' | 'apps' | 'credentials' | 'installs' | 'versions' | 'rollbacks' | 'webhook_endpoints' | 'audit_events'
  /** What the predecessor (`present`) says: target, when, what holds instead. `?1` is the moment of the restore. */
  readonly told: string
  /** The table of the predecessor, or the column of its table `of`, without which it cannot be asked: an older one lacks it. */
  readonly needs?: { readonly table: string; readonly column?: string }
}
/** One way in which something ends and must not come back. */
export type End = Told & {
  readonly counts: keyof CarriedOver
  /** What comes before that, and is not counted. */
  readonly first?: readonly string[]
  /** Ends it in the copy (`main`), by what stands there in `carried_ends`; nothing that was changed after it had ended. */
  readonly done: readonly string[]
}

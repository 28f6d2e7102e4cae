/** How much of each had ended or been removed in the predecessor and was still in force in the backup. */
export const nothingCarriedOver = {
  credentials: 0,
  serviceKeys: 0,
  apps: 0,
  owners: 0,
  members: 0,
  users: 0,
  emails: 0,
  links: 0,
  passwords: 0,
  factors: 0,
  operators: 0,
  installs: 0,
  resources: 0,
  scopes: 0,
  versions: 0,
  redirectUris: 0,
  webhooks: 0,
}
export type CarriedOver = Readonly<typeof nothingCarriedOver>

/** Something that a predecessor can tell. */
export type Told = {
  /** As in `carried_ends`, for ever. */
  readonly kind: string
  /** The table whose IDs are the targets. What leaves no row when it is removed is named by the audit event of its creation. */
  readonly of:
    | 'users'
    | 'apps'
    | 'credentials'
    | 'installs'
    | 'resources'
    | 'versions'
    | 'rollbacks'
    | 'webhook_endpoints'
    | 'service_keys'
    | 'totp_keys'
    | 'passkeys'
    | 'recovery_codes'
    | 'app_members'
    | 'audit_events'
  /** What the predecessor (`present`) says: target, when, what holds instead. `?1` is the time of the restore. */
  readonly told: string
}

/** One way in which something ends and must not come back. */
export type End = Told & {
  readonly counts: keyof CarriedOver
  /** Statements that run before `done` and are not counted. */
  readonly first?: readonly string[]
  /** Ends it in the copy (`main`), by what `carried_ends` says; nothing that was changed after it had ended. */
  readonly done: readonly string[]
  /** Statements that run after `done` and are not counted. */
  readonly last?: readonly string[]
}

/** An end that is one update of the row (`m`) by its row of `carried_ends` (`c`). */
export const rowEnd = ({
  set,
  where,
  ...end
}: Omit<End, 'done'> & { readonly set: string; readonly where: string }): End => ({
  ...end,
  done: [`${updateOf(end, set)} AND ${where}`],
})

/** An update of the rows that have ended. */
export const updateOf = ({ kind, of }: Pick<End, 'kind' | 'of'>, set: string): string =>
  `UPDATE main.${of} AS m SET ${set} FROM main.carried_ends AS c WHERE c.kind = '${kind}' AND c.target = m.id`

/** Joins a row of the predecessor (`p`) to that of the copy (`m`), and selects it if the copy lacks it or has another value. */
export const unlessSame = (table: string, column: string) =>
  `LEFT JOIN main.${table} AS m ON m.id = p.id WHERE (m.id IS NULL OR m.${column} <> p.${column})`

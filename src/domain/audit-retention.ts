/** How many days audit events are kept (contract section 5). Each is a setting. */
export const defaultAuditRetention = {
  days: 400,
  /** Of refusals without a known caller. */
  anonymousDays: 30,
} as const
export type AuditRetention = Readonly<Record<keyof typeof defaultAuditRetention, number>>

/** How much one app and one account may keep. Each is a setting. */
export const defaultQuotas = {
  /** Bytes of all uploaded artifacts of one app; an artifact used by several versions counts once. */
  artifactBytes: 1024 ** 3,
  /** Apps per account. */
  apps: 100,
} as const
export type Quotas = Readonly<Record<keyof typeof defaultQuotas, number>>

/** A setting of the running server, as operators see it. */
export type SettingFact = {
  readonly name: string
  /** As it was given; null for the default. A secret is only said to be set. */
  readonly value: string | null
  readonly origin: 'flag' | 'environment' | 'file' | 'default'
  /** The flag, the variable, or the variable that names the file; null for the default. */
  readonly from: string | null
  /** In the words of the setting; null if there is none. */
  readonly usual: string | null
}

/** A value of a setting in the words in which it is given; null for none. */
export const settingInWords = (value: unknown): string | null => {
  if (value === null || value === '' || (Array.isArray(value) && value.length === 0)) return null
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  if (Array.isArray(value)) return value.map(settingInWords).join(',')
  if (typeof value !== 'object') return String(value)
  if ('count' in value && 'seconds' in value) return `${String(value.count)}/${String(value.seconds)}`
  return 'path' in value ? `file:${String(value.path)}` : null
}

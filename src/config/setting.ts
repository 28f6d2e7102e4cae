/** Flags of the command line as they were typed; they win over the environment. */
export type ConfigFlags = {
  readonly port?: string | undefined
  readonly host?: string | undefined
  readonly database?: string | undefined
  readonly publicUrl?: string | undefined
}

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>

/** A setting that the operator has given: the name of its variable or flag, and its text. */
export type Setting = { readonly name: string; readonly text: string }
/** Sentences that name their setting and never repeat a value. */
export type Faults = string[]
/** Looks for a setting by its variable, and by its flag and that flag's key if it has one; null when it is not set. */
export type Find = (variable: string, flag?: string, key?: keyof ConfigFlags) => Setting | null

/** Flags win over the environment. An empty setting is a fault. */
export const settingFinder =
  (flags: ConfigFlags, env: EnvironmentVariables, faults: Faults): Find =>
  (variable, flag, key) => {
    const flagged = key === undefined ? undefined : flags[key]
    const name = flagged === undefined ? variable : (flag ?? variable)
    const text = flagged ?? env[variable]
    if (text === undefined) return null
    if (text.trim() !== '') return { name, text }
    faults.push(`${name} is empty. Leave it out to use the default.`)
    return null
  }

/** A whole number without sign, point or exponent; null when it is not one or not within the bounds. */
export const wholeNumber = (text: string, least: number, most: number): number | null => {
  if (!/^\d{1,12}$/.test(text)) return null
  const value = Number(text)
  return value >= least && value <= most ? value : null
}

export const readNumber = (
  setting: Setting | null,
  faults: Faults,
  { fallback, least, most }: { readonly fallback: number; readonly least: number; readonly most: number },
): number => {
  if (setting === null) return fallback
  const value = wholeNumber(setting.text, least, most)
  if (value === null) faults.push(`${setting.name} must be a whole number from ${least} to ${most}.`)
  return value ?? fallback
}

export const readChoice = <T extends string>(
  setting: Setting | null,
  faults: Faults,
  choices: readonly T[],
  fallback: T,
): T => {
  if (setting === null) return fallback
  const chosen = choices.find((choice) => choice === setting.text)
  if (chosen === undefined) faults.push(`${setting.name} must be one of ${choices.join(', ')}.`)
  return chosen ?? fallback
}

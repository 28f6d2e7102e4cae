/** Flags of the command line as they were typed; they win over the environment. */
export type ConfigFlags = {
  readonly port?: string | undefined
  readonly host?: string | undefined
  readonly database?: string | undefined
  readonly publicUrl?: string | undefined
}

export type Environment = Readonly<Record<string, string | undefined>>

/** A setting as it was found: which name the operator knows it by, and its text. */
export type Setting = { readonly name: string; readonly text: string }
/** Sentences that name their setting and never repeat a value. */
export type Faults = string[]
/** Looks for a setting by its variable, and by its flag and that flag's key where it has one; null when nobody has set it. */
export type Find = (variable: string, flag?: string, key?: keyof ConfigFlags) => Setting | null

/** Flags over environment. What is set to nothing is a fault. */
export const settingFinder =
  (flags: ConfigFlags, env: Environment, faults: Faults): Find =>
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
  if (!/^\d{1,9}$/.test(text)) return null
  const value = Number(text)
  return value >= least && value <= most ? value : null
}

import { closeSync, constants, existsSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { dirname, isAbsolute } from 'node:path'
import { codeOf } from '../domain/error-code.ts'
import { typedName } from '../domain/entered-name.ts'
import { type SettingFact, settingInWords } from '../domain/deciding-settings.ts'
import { textOfFile } from '../domain/text.ts'

/** Flags of the command line as they were typed; they win over the environment. */
export type ConfigFlags = {
  readonly port?: string | undefined
  readonly host?: string | undefined
  readonly database?: string | undefined
  readonly publicUrl?: string | undefined
}

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>

/** What is wrong with the text of a setting: a sentence without its subject, which never repeats a value. */
export class Broken {
  constructor(readonly rule: string) {}
}

/** Reads a setting by its variable, and by its flag if it has one. Without it, or if it is broken, the result is the fallback. */
export type Read = <T>(
  variable: string,
  fallback: T,
  parse: (text: string) => T | Broken,
  flag?: keyof ConfigFlags,
) => T

/** Settings with a password or another secret. Each may be in a file, which a variable with `_FILE` at its end names. */
export const secretSettings = ['DATABASE_URL', 'OIDC_CLIENT_SECRET', 'SMTP_URL'] as const
export type SecretSetting = (typeof secretSettings)[number]
const isSecretSetting = (variable: string): variable is SecretSetting =>
  secretSettings.some((name) => name === variable)

export const fileSetting = (variable: string): string => `${variable}_FILE`

/** Flags win over the environment. Sentences about broken settings are added to the faults, the names of all to `names`. */
export const settingReader =
  (
    flags: ConfigFlags,
    env: EnvironmentVariables,
    faults: string[],
    names: string[],
    secrets: readonly string[] = secretSettings,
    told: SettingFact[] = [],
  ): Read =>
  (variable, fallback, parse, flag) => {
    names.push(variable)
    const flagged = flag === undefined ? undefined : flags[flag]
    const inFile = secrets.includes(variable) ? fileSetting(variable) : null
    if (inFile !== null) names.push(inFile)
    const file = inFile === null || flagged !== undefined ? undefined : env[inFile]
    if (file !== undefined && env[variable] !== undefined) {
      faults.push(`${variable} and ${inFile} are both set: leave one out.`)
      return fallback
    }
    const ofVariable = file === undefined ? variable : inFile
    const name = flag === undefined || flagged === undefined ? ofVariable : flagNames[flag]
    const subject = file === undefined ? name : `${name}${placeInWords(file)}`
    const text = flagged ?? (file === undefined ? env[variable] : textIn(file))
    told.push({
      name: variable,
      value: text === undefined ? null : isSecret(variable, text) ? 'set' : String(text).trim(),
      origin:
        text === undefined ? 'default' : flagged !== undefined ? 'flag' : file === undefined ? 'environment' : 'file',
      from: text === undefined ? null : name,
      usual: settingInWords(fallback),
    })
    if (text === undefined) return fallback
    const typed = text instanceof Broken ? text : oneValue(text, 'is empty. Leave it out to use the default.')
    const value = typed instanceof Broken ? typed : parse(typed)
    if (!(value instanceof Broken)) return value
    faults.push(`${subject} ${value.rule}`)
    return fallback
  }

/** What every text from the environment has to be, whatever it says. A pipeline sets an empty variable for what it does not have. */
export const oneValue = (text: string, whenEmpty: string): string | Broken =>
  text.trim() === ''
    ? new Broken(whenEmpty)
    : /\p{Cc}/u.test(text)
      ? new Broken('has a line break, a tab or another control character: give the value alone.')
      : text

/** A file of SQLite has no password. */
const isSecret = (variable: string, text: string | Broken): boolean =>
  isSecretSetting(variable) && !(variable === 'DATABASE_URL' && typeof text === 'string' && !/^\s*postgres/i.test(text))

/** No secret is longer. */
const longestFile = 64 * 1024

/** A path is no secret. A text that leads nowhere may be the secret itself, set under the wrong name. */
const placeInWords = (file: string): string =>
  isAbsolute(file) && dirname(file) !== '/' && existsSync(dirname(file)) ? ` (${file})` : ''

/** What a file of a secret setting holds, without the line break at its end. Nothing that is no file is waited for. */
const textIn = (file: string): string | Broken => {
  let descriptor: number | null = null
  try {
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK) // to open a pipe would wait for its writer
    const before = fstatSync(descriptor)
    if (!before.isFile() || before.size > longestFile) return new Broken(textRule)
    const bytes = readFileSync(descriptor)
    const after = fstatSync(descriptor)
    const isSame = after.mtimeMs === before.mtimeMs && after.size === before.size && bytes.length === before.size
    if (!isSame) return new Broken('names a file that was changed while it was read: try again.')
    return textOfFile(bytes)?.replace(/\r?\n$/, '') ?? new Broken(textRule)
  } catch (error) {
    const code = String(codeOf(error) ?? 'unknown')
    const why =
      code === 'ENOENT' ? 'is not there' : code === 'EACCES' ? 'this user may not read' : `cannot be read (${code})`
    return new Broken(`names a file that ${why}.`)
  } finally {
    if (descriptor !== null) closeSync(descriptor)
  }
}

const textRule = 'must name a text file with the value alone.'

const flagNames: Readonly<Record<keyof ConfigFlags, string>> = {
  port: '--port',
  host: '--host',
  database: '--database',
  publicUrl: '--public-url',
}

/** The flag of a variable; empty for one without. */
export const flagOf = (variable: string): string => variablesWithFlags[variable] ?? ''

const variablesWithFlags: Readonly<Record<string, string>> = {
  PORT: flagNames.port,
  HOST: flagNames.host,
  DATABASE_URL: flagNames.database,
  PUBLIC_URL: flagNames.publicUrl,
}

/** A name that people see, spelled as all names are. */
export const nameOf = (text: string): string | Broken => {
  const { name, fault } = typedName(text)
  return fault !== null || name.length > 60 ? new Broken('must be 1 to 60 visible characters.') : name
}

/** A whole number without sign, point or exponent; `rule` is for every other text. */
export const wholeNumber =
  (least: number, most: number, rule = `must be a whole number from ${least} to ${most}.`) =>
  (text: string): number | Broken =>
    /^\d{1,12}$/.test(text) && Number(text) >= least && Number(text) <= most ? Number(text) : new Broken(rule)

export const onOrOff = (text: string): boolean | Broken =>
  text === 'on' || text === 'off' ? text === 'on' : new Broken('must be on or off.')

export const choiceOf =
  <T extends string>(choices: readonly T[]) =>
  (text: string): T | Broken =>
    choices.find((choice) => choice === text) ?? new Broken(`must be one of ${choices.join(', ')}.`)

export const originOf = (text: string): string | Broken => {
  const url = URL.parse(text)
  const isHost = url !== null && /^(?:[a-z0-9._-]{1,253}|\[[0-9a-f:.]+\])$/.test(url.hostname)
  if (!isHost || !/^https?:\/\/[^/?#@\\\s]+\/?$/i.test(text)) {
    return new Broken('must be an origin such as https://apps.example.com: no path, query, fragment or user.')
  }
  return url.port === '0' ? new Broken('must name the port that clients call; port 0 cannot be called.') : url.origin
}

import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { isText, recordOf } from '../../client/answer-shapes.ts'
import { CommandFailed } from '../output.ts'
import type { DeveloperCredentials } from './settings.ts'

/** What login keeps for one server. */
type KeptLogin = DeveloperCredentials & {
  readonly url: string
  /** A scope with which the app has got a token before. */
  readonly scope: string
}

const fileOf = (folder: string, url: string): string => join(folder, `${encodeURIComponent(url)}.json`)

/** Saves a login atomically in a file that only this user can read. Returns its path. */
export const keepLogin = (folder: string, login: KeptLogin): string => {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  chmodSync(folder, 0o700) // the folder may have existed before
  const file = fileOf(folder, login.url)
  const fresh = `${file}.${process.pid}`
  rmSync(fresh, { force: true })
  try {
    writeFileSync(fresh, `${JSON.stringify(login)}\n`, { mode: 0o600, flag: 'wx', flush: true })
    renameSync(fresh, file)
  } catch (error) {
    rmSync(fresh, { force: true }) // part of a secret is still a secret
    throw error
  }
  return file
}

/**
 * The saved login of a server; null if there is none.
 * @throws CommandFailed for a file that others can read, or that is not one of ours
 */
export const findLogin = (folder: string, url: string): KeptLogin | null => {
  const file = fileOf(folder, url)
  const found = lstatSync(file, { throwIfNoEntry: false })
  if (found === undefined) return null
  if (!found.isFile())
    throw new CommandFailed([`${file} is not a regular file. Remove it, and sign in again with app-platform login.`])
  if ((found.mode & 0o077) !== 0) {
    throw new CommandFailed([
      `Other users of this machine can read ${file}. Rotate the secret, remove the file, and sign in again with app-platform login.`,
    ])
  }
  const login = loginIn(readFileSync(file, 'utf8'))
  if (login === null || login.url !== url) {
    throw new CommandFailed([
      `${file} was not written by app-platform login. Remove it, and sign in again with that command.`,
    ])
  }
  return login
}

/** The client ID of the login that another one is about to replace; null if none can be read. */
export const keptClient = (folder: string, url: string): string | null => {
  try {
    return findLogin(folder, url)?.clientId ?? null
  } catch {
    return null
  }
}

/** Removes a saved login; whether there was one. */
export const forgetLogin = (folder: string, url: string): boolean => {
  const file = fileOf(folder, url)
  if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return false
  unlinkSync(file) // names a folder, which `rmSync` does not
  return true
}

/** The servers that have a saved login. */
export const keptServers = (folder: string): readonly string[] => {
  if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) return []
  return readdirSync(folder)
    .map(serverIn)
    .filter((url) => url !== null)
    .toSorted()
}

/** The origin in the name of a file; null if the name has another form. */
const serverIn = (name: string): string | null => {
  try {
    const { origin } = new URL(decodeURIComponent(name.slice(0, -'.json'.length)))
    return origin.startsWith('http') && fileOf('', origin) === name ? origin : null
  } catch {
    return null
  }
}

const isLogin = recordOf<KeptLogin>({ url: isText, clientId: isText, clientSecret: isText, scope: isText })

const loginIn = (text: string): KeptLogin | null => {
  try {
    const value: unknown = JSON.parse(text)
    return isLogin(value) ? value : null
  } catch {
    return null
  }
}

import { readFileSync } from 'node:fs'

/** Who runs this process, as the machine knows it: not from the environment, where anyone may write any name. */
export const systemUser = (): string => {
  const uid = process.getuid?.()
  return uid === undefined ? 'unknown' : userName(uid)
}

/** The name of a user of this machine, or `uid:1000` for one that has none. */
export const userName = (uid: number): string => nameOf(uid) ?? `uid:${uid}`

/** A container, or a machine with a directory service, has users that are not in the file. */
const nameOf = (uid: number): string | null => {
  try {
    const lines = readFileSync('/etc/passwd', 'utf8').split('\n')
    return lines.map((line) => line.split(':')).find(([, , id]) => id === String(uid))?.[0] ?? null
  } catch {
    return null
  }
}

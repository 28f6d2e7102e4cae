import type { PlatformClient, Version } from '../../client/index.ts'

/** The current versions; null if there is none. */
export type Standing = { readonly development: Version | null; readonly production: Version | null }

/** @throws AppPlatformError */
export const readStanding = async (client: PlatformClient, signal: AbortSignal): Promise<Standing> => {
  const { current } = await client.versions.list({ limit: 1 }, { signal })
  const wanted = new Set([current.development, current.production].filter((id) => id !== null))
  const found = new Map<string | null, Version>()
  if (wanted.size > 0) {
    for await (const version of client.versions.all({}, { signal })) {
      if (wanted.has(version.id)) found.set(version.id, version)
      if (found.size === wanted.size) break
    }
  }
  return { development: found.get(current.development) ?? null, production: found.get(current.production) ?? null }
}

/** `The development head is 1.4.0. Users see 1.3.0.` */
export const standingText = ({ development, production }: Standing): string => {
  const head =
    development === null ? 'There is no development head.' : `The development head is ${development.version}.`
  const live = production === null ? 'Users see no version yet.' : `Users see ${production.version}.`
  return `${head} ${live}`
}

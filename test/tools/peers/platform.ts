import { join } from 'node:path'
import { addCodes, fill } from '../../bench/fill.ts'
import { startPlatform } from '../../bench/processes.ts'
import type { Contender } from './contender.ts'

/** This program at its standard endpoints, as users run it: limits (too high to be reached), logs, metrics and audit are on. */
export const platform = (executable: string): Contender => ({
  name: 'app-platform',
  paths: { token: '/oauth/token', introspect: '/oauth/introspect', who: '/api/app-platform/oauth/me' },
  codesPerSecond: 20_000,
  keepsTokensAs: 'SHA-256',
  prepare: async (folder, live, url) => {
    const database = url ?? join(folder, 'app-platform.db')
    const filled = await fill(database, live, 1)
    const { me, resources, refresh } = filled.requests
    const exchange = bodyOf((await addCodes(filled, 1))[0])
    return {
      database,
      material: {
        client: { id: exchange('clientId'), secret: exchange('clientSecret'), redirectUri: exchange('redirectUri') },
        appTokens: me.map(bearerOf),
        userTokens: resources.map(bearerOf),
        refreshTokens: refresh.map((text) => bodyOf(text)('refreshToken')),
      },
      codes: async (count) => (await addCodes(filled, count)).map((text) => bodyOf(text)('code')),
      start: async () => await startPlatform(folder, database),
      startExecutable: async () => await startPlatform(folder, database, {}, [executable]),
      close: async () => await filled.platform.database.close(),
    }
  },
})

/** The filled file comes with requests to the contract's endpoints. Only the credentials in them are used here. */
const bodyOf = (text = '') => {
  const body: Readonly<Record<string, string>> = JSON.parse(text.slice(text.indexOf('\r\n\r\n')))
  return (name: string): string => body[name] ?? ''
}

const bearerOf = (text: string): string => /Bearer (\S+)/.exec(text)?.[1] ?? ''

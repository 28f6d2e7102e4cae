import { hostname } from 'node:os'
import packageFile from '../../package.json' with { type: 'json' }

/** Set by the build (src/build.ts); undefined when the source is run. */
declare const BUILT_FROM_COMMIT: string | undefined

/** The version of this program, and how long it has been running. */
export const program = {
  version: packageFile.version,
  commit: typeof BUILT_FROM_COMMIT === 'string' ? BUILT_FROM_COMMIT : 'development',
  bunVersion: Bun.version,
  uptimeSeconds: (): number => Math.floor(process.uptime()),
} as const

/** The name of this machine, for people: 100 characters at most. */
export const machineName = (): string => hostname().slice(0, 100)

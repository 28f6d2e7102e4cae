import packageFile from '../../package.json' with { type: 'json' }

/** Put in by the build (src/build.ts); whoever runs the source has it in front of them. */
declare const BUILT_FROM_COMMIT: string | undefined

/** What is running, and since when. */
export const program = {
  version: packageFile.version,
  commit: typeof BUILT_FROM_COMMIT === 'string' ? BUILT_FROM_COMMIT : 'development',
  bunVersion: Bun.version,
  uptimeSeconds: (): number => Math.floor(process.uptime()),
} as const

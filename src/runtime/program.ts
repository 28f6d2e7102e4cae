import packageFile from '../../package.json' with { type: 'json' }

/** What is running, and since when. */
export const program = {
  version: packageFile.version,
  bunVersion: Bun.version,
  uptimeSeconds: (): number => Math.floor(process.uptime()),
} as const

import { join } from 'node:path'
import { type LoadResult, runLoad } from './load.ts'
import type { Options } from './options.ts'
import { connections, type Stage, written } from './phase.ts'
import { cores, pinned } from './processes.ts'

export const duringUploadsNames = ['me', 'token'] as const
export type DuringUploadsName = (typeof duringUploadsNames)[number]

/** One case alone, then while a client uploads 10 MiB after 10 MiB. */
export type DuringUploads = {
  readonly alone: LoadResult
  readonly during: LoadResult
  readonly uploadsPerSecond: number
  readonly residentBytes: number
}

export const duringUploads = async (
  stage: Stage,
  name: DuringUploadsName,
  { rounds, seconds }: Options,
): Promise<readonly DuringUploads[]> => {
  const { port } = stage.platform
  const requests = await written(stage, name, stage.filled.requests[name])
  const load = { port, seconds, connections, mode: 'cycle' as const, requests }
  const results: DuringUploads[] = []
  for (let round = 0; round <= rounds; round += 1) {
    const alone = await runLoad(load)
    const uploader = startUploader(port, developmentToken(stage))
    const during = await runLoad(load)
    const uploadsPerSecond = await uploader.stop()
    const residentBytes = stage.platform.residentBytes()
    if (round > 0) results.push({ alone, during, uploadsPerSecond, residentBytes })
  }
  return results
}

/** It gives way to the load generator, with which it shares a core, so that the load stays the same. */
const startUploader = (port: number, token: string) => {
  const program = [process.execPath, join(import.meta.dir, 'uploader.ts'), String(port), token]
  const command = Bun.which('nice') === null ? program : ['nice', '-n', '19', ...program]
  const child = Bun.spawn(pinned(cores.load, command), { stdout: 'pipe', stderr: 'inherit' })
  return {
    /** Lets it finish its last upload; returns the uploads per second. */
    stop: async (): Promise<number> => {
      child.kill('SIGTERM')
      const output = await new Response(child.stdout).text()
      if ((await child.exited) !== 0) throw new Error('The uploader failed.')
      const { uploads, seconds } = JSON.parse(output)
      return uploads / seconds
    },
  }
}

const developmentToken = ({ filled }: Stage): string => {
  const token = /Bearer (apat_\w+)/.exec(filled.requests.me[0] ?? '')?.[1]
  if (token === undefined) throw new Error('There is no token to upload with.')
  return token
}

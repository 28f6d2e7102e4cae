import { join } from 'node:path'
import { type LoadResult, runLoad } from './load.ts'
import type { Options } from './options.ts'
import { connections, type Stage, written } from './phase.ts'
import { cores, pinned } from './processes.ts'

export const besideNames = ['me', 'token'] as const
export type BesideName = (typeof besideNames)[number]

/** One case with nothing beside it, then beside a client that uploads 10 MiB after 10 MiB. */
export type BesideUploads = {
  readonly alone: LoadResult
  readonly beside: LoadResult
  readonly uploadsPerSecond: number
  readonly residentBytes: number
}

export const besideUploads = async (
  stage: Stage,
  name: BesideName,
  { rounds, seconds }: Options,
): Promise<readonly BesideUploads[]> => {
  const { port } = stage.platform
  const requests = await written(stage, name, stage.filled.requests[name])
  const load = { port, seconds, connections, mode: 'cycle' as const, requests }
  const played: BesideUploads[] = []
  for (let round = 0; round <= rounds; round += 1) {
    const alone = await runLoad(load)
    const uploader = startUploader(port, developmentToken(stage))
    const beside = await runLoad(load)
    const uploadsPerSecond = await uploader.stop()
    const residentBytes = stage.platform.residentBytes()
    if (round > 0) played.push({ alone, beside, uploadsPerSecond, residentBytes })
  }
  return played
}

/** It gives way to the load generator on their core: its own use of it is no matter of the server's. */
const startUploader = (port: number, token: string) => {
  const program = [process.execPath, join(import.meta.dir, 'uploader.ts'), String(port), token]
  const command = Bun.which('nice') === null ? program : ['nice', '-n', '19', ...program]
  const child = Bun.spawn(pinned(cores.load, command), { stdout: 'pipe', stderr: 'inherit' })
  return {
    /** Lets it finish its last upload; gives how many there were per second. */
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

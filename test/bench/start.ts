import { join } from 'node:path'
import { buildProgram } from '../../src/build.ts'
import { markdownTable } from './markdown.ts'
import { median } from './report.ts'

/** Milliseconds from the start of the process. */
type Start = { readonly listening: number; readonly answered: number }

export type StartFigures = {
  readonly megabytes: number
  readonly listeningMs: number
  readonly bestListeningMs: number
  readonly answeredMs: number
  readonly versionMs: number
}

const rounds = 20

/** Starts the binary on an existing database, and measures until it listens and until it has answered. */
export const startFigures = async (folder: string): Promise<StartFigures> => {
  const { file, bytes } = await buildProgram(join(folder, 'app-platform'))
  const database = join(folder, 'start.db')
  await startOnce(file, database) // creates the database and warms the file cache
  const starts: Start[] = []
  const versions: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    starts.push(await startOnce(file, database))
    versions.push(await timeOfVersion(file))
  }
  const listening = starts.map((start) => start.listening)
  return {
    megabytes: Math.round(bytes / 1e5) / 10,
    listeningMs: Math.round(median(listening)),
    bestListeningMs: Math.round(Math.min(...listening)),
    answeredMs: Math.round(median(starts.map((start) => start.answered))),
    versionMs: Math.round(median(versions)),
  }
}

const startOnce = async (program: string, database: string): Promise<Start> => {
  const begun = performance.now()
  const child = Bun.spawn([program, 'serve', '--json', '--port', '0', '--database', database], {
    env: {},
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'ignore',
  })
  const { value } = await child.stdout.getReader().read()
  const listening = performance.now() - begun
  const { url } = JSON.parse(new TextDecoder().decode(value))
  await (await fetch(`${url}/healthz`)).text()
  const answered = performance.now() - begun
  child.kill('SIGTERM')
  await child.exited
  return { listening, answered }
}

const timeOfVersion = async (program: string): Promise<number> => {
  const begun = performance.now()
  await Bun.spawn([program, '--version'], { env: {}, stdout: 'ignore', stderr: 'ignore' }).exited
  return performance.now() - begun
}

export const startTable = (figures: StartFigures): string => {
  const columns = ['size MB', 'listens ms', 'at best', 'has answered ms', '--version ms']
  const { head, row } = markdownTable([`Warm starts of the binary, medians of ${rounds}`, ...columns])
  const { megabytes, listeningMs, bestListeningMs, answeredMs, versionMs } = figures
  const cells = [megabytes, listeningMs, bestListeningMs, answeredMs, versionMs].map(String)
  return `${head}\n${row(['app-platform', ...cells])}`
}

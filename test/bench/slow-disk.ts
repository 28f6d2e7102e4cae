import { join } from 'node:path'

/** The environment of a process whose every sync takes a millisecond longer; null where that is not possible. */
export const slowDisk = async (folder: string): Promise<Readonly<Record<string, string>> | null> => {
  const compiler = Bun.which('cc')
  if (compiler === null || process.platform !== 'linux') return null
  const library = join(folder, 'slow-disk.so')
  const source = join(import.meta.dir, 'slow-disk.c')
  const { exitCode } = Bun.spawnSync([compiler, '-shared', '-fPIC', '-O2', '-o', library, source])
  return exitCode === 0 ? { LD_PRELOAD: library } : null
}

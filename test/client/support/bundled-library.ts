import { join } from 'node:path'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** Bundles the library as a Node app would, and returns the file. */
export const bundledLibrary = async (): Promise<string> => {
  const outdir = temporaryFolder()
  const { success } = await Bun.build({
    entrypoints: [join(import.meta.dir, '../../../src/client/index.ts')],
    target: 'node',
    outdir,
    naming: 'client.mjs',
  })
  if (!success) throw new Error('The library cannot be bundled.')
  return join(outdir, 'client.mjs')
}

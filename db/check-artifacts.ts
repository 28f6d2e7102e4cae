import { createHash } from 'node:crypto'
import type { Connection } from './sqlite/connection.ts'

type Used = { readonly sha256: Uint8Array; readonly size: number; readonly example: string }

/**
 * The artifacts that versions use and that are not what was uploaded, in plain sentences. Pages can be whole where content is
 * not: a disk or a program beside us may have changed it. Reads every piece, one at a time.
 */
export const damagedArtifacts = (connection: Connection): readonly string[] => {
  using used = connection.prepare<Used, []>(
    `SELECT artifacts.sha256, artifacts.size_bytes AS size, min(apps.slug || ' ' || versions.version) AS example
     FROM artifacts JOIN versions ON versions.artifact_sha256 = artifacts.sha256 JOIN apps ON apps.id = versions.app_id
     GROUP BY artifacts.sha256`,
  )
  using piece = connection.prepare<{ data: Uint8Array }, [Uint8Array, number]>(
    'SELECT data FROM artifact_chunks WHERE sha256 = ? AND position = ?',
  )
  const isWhole = ({ sha256, size }: Used): boolean => {
    const hash = createHash('sha256')
    let read = 0
    for (let position = 0; read < size; position += 1) {
      const { data } = piece.get(sha256, position) ?? { data: new Uint8Array() }
      if (data.length === 0) return false
      hash.update(data)
      read += data.length
    }
    return read === size && hash.digest().equals(sha256)
  }
  return used
    .all()
    .filter((artifact) => !isWhole(artifact))
    .map(({ example }) => `The artifact of ${example} is damaged: restore a backup, or upload it again.`)
}

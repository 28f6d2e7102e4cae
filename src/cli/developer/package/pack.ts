import { turn } from '../../../domain/awaitable.ts'
import { Zip, ZipDeflate } from 'fflate'
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { CommandFailed } from '../../output.ts'
import type { FoundFile } from './find-files.ts'
import { createSecretScan } from './secret-scan.ts'

type Packed =
  | { readonly kind: 'packed'; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'too_large' }
  /** Paths of files with a secret in them. */
  | { readonly kind: 'secrets'; readonly paths: readonly string[] }

type PackOptions = {
  readonly limitBytes: number
  readonly onProgress: (readBytes: number) => void
  readonly signal: AbortSignal
}

const pieceBytes = 64 * 1024
/** The earliest time of the format, for all files: our archives have no file times. */
const noTime = () => new Date(1980, 0, 1)

/**
 * One ZIP archive of the files. The same files give the same bytes on every machine: it has no times, no owners and no
 * permissions but the executable bit, and the compressor is part of this program. Stops as soon as it exceeds the limit.
 * @throws CommandFailed for a file that cannot be read, and the signal's reason
 */
export const pack = async (files: readonly FoundFile[], options: PackOptions): Promise<Packed> => {
  const pieces: Uint8Array[] = []
  let packedBytes = 0
  let failure: Error | null = null
  const archive = new Zip((error, piece) => {
    failure ??= error
    pieces.push(piece)
    packedBytes += piece.length
  })
  const secrets: string[] = []
  for (const file of files) {
    const entry = entryFor(file)
    archive.add(entry)
    const scan = createSecretScan()
    for (const { piece, isLast } of piecesOf(file)) {
      scan.see(piece)
      entry.push(piece, isLast)
      options.onProgress(piece.length)
      await turn() // otherwise Ctrl-C would wait until the end
      options.signal.throwIfAborted()
      if (packedBytes > options.limitBytes) return { kind: 'too_large' }
    }
    if (scan.found()) secrets.push(file.path)
  }
  archive.end()
  if (failure !== null) throw failure
  if (secrets.length > 0) return { kind: 'secrets', paths: secrets }
  const bytes = new Uint8Array(Buffer.concat(pieces))
  return bytes.length > options.limitBytes ? { kind: 'too_large' } : { kind: 'packed', bytes }
}

const entryFor = ({ path, isExecutable }: FoundFile): ZipDeflate => {
  const entry = new ZipDeflate(path, { level: 6 })
  entry.mtime = noTime()
  entry.os = 3 // Unix: the attributes are a file mode
  entry.attrs = ((isExecutable ? 0o100755 : 0o100644) << 16) >>> 0
  return entry
}

/** The content in pieces of one size. The last one is shorter, perhaps empty. */
function* piecesOf(file: FoundFile): Generator<{ readonly piece: Uint8Array; readonly isLast: boolean }, void> {
  const opened = openFile(file)
  try {
    for (;;) {
      const piece = new Uint8Array(pieceBytes)
      const length = fill(opened, piece)
      yield { piece: piece.subarray(0, length), isLast: length < pieceBytes }
      if (length < pieceBytes) return
    }
  } finally {
    closeSync(opened)
  }
}

/** Refuses a link or a pipe that has replaced the file meanwhile. */
const openFile = ({ path, source }: FoundFile): number => {
  try {
    const opened = openSync(source, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    if (fstatSync(opened).isFile()) return opened
    closeSync(opened)
  } catch {
    // reported below
  }
  throw new CommandFailed([`${path} cannot be read. Check its permissions, or list it in .appignore.`])
}

/** Reads until the piece is full or the file ends. */
const fill = (file: number, piece: Uint8Array): number => {
  let length = 0
  while (length < piece.length) {
    const read = readSync(file, piece, length, piece.length - length, null)
    if (read === 0) break
    length += read
  }
  return length
}

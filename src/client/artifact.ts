import { Buffer } from 'node:buffer'
import type { VersionUpload } from './contract-types.ts'

/** A file as an upload carries it, with its SHA-256 for the server to check. */
export const artifactOf = async (
  filename: string,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<NonNullable<VersionUpload['artifact']>> => ({
  filename,
  contentBase64: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64'),
  sha256: Buffer.from(await crypto.subtle.digest('SHA-256', bytes)).toString('hex'),
})

import { downloadName } from '../domain/download-name.ts'

/**
 * The Content-Disposition of a file that is to be saved, never shown (RFC 6266): its name in ASCII for clients that know no
 * better, and as it is (RFC 8187).
 */
export const attachment = (filename: string): string => {
  const name = downloadName(filename)
  const inAscii = name.replaceAll(/[^\x20-\x7e]|[%;\\"]/gu, '_')
  return `attachment; filename="${inAscii}"; filename*=UTF-8''${encoded(name)}`
}

/** RFC 8187 section 3.2.1: `encodeURIComponent` leaves four characters as they are that are not attr-char. */
const encoded = (name: string): string =>
  encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )

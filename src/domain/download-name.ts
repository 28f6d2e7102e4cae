/** Not allowed in file names on some system: control and direction characters, path separators, shell and Windows syntax. */
const unsafe = /[\p{C}\p{Zl}\p{Zp}/\\:*?"<>|]/gu
/** The longest name that every common file system accepts, in bytes of UTF-8. */
export const longestBytes = 255
/** A longer ending is not an extension. */
const longestExtension = 20

/**
 * A safe name for the download of an uploaded file: visible, without a path, not hidden, not a device, and not too long
 * for file systems. It accepts any text, since a row may be older than the rules for uploads.
 */
export const downloadName = (filename: string): string => {
  const visible = filename.toWellFormed().replaceAll(unsafe, '_').trim()
  const plain = visible.replace(/^[.\s]+/u, '').replace(/[.\s]+$/u, '')
  return shortened(isDevice(plain) ? `_${plain}` : plain) || 'artifact'
}

/** Windows treats these as devices, with any extension. */
export const isDevice = (name: string): boolean =>
  /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[\d¹²³]) *(?:\.|$)/i.test(name)

/** Cuts the stem, since the extension decides how a file is opened. */
const shortened = (name: string): string => {
  if (Buffer.byteLength(name) <= longestBytes) return name
  const dot = name.lastIndexOf('.')
  const extension = dot > 0 && name.length - dot <= longestExtension ? name.slice(dot) : ''
  const room = longestBytes - Buffer.byteLength(extension)
  const stem = name.slice(0, name.length - extension.length)
  let kept = ''
  let used = 0
  for (const character of stem) {
    used += Buffer.byteLength(character)
    if (used > room) break
    kept += character
  }
  return kept + extension
}

/**
 * The Content-Disposition of a file that is saved and never shown (RFC 6266), with its name in ASCII for old clients and in
 * full (RFC 8187).
 */
export const attachment = (filename: string): string => {
  const name = downloadName(filename)
  const inAscii = name.replaceAll(/[^\x20-\x7e]|[%;\\"]/gu, '_')
  return `attachment; filename="${inAscii}"; filename*=UTF-8''${encoded(name)}`
}

/** `encodeURIComponent` leaves four characters unescaped that RFC 8187 section 3.2.1 does not allow. */
const encoded = (name: string): string =>
  encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )

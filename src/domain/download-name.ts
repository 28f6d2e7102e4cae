/** What no file name may hold somewhere: controls and what turns the reading direction, paths, and what shells and Windows read. */
const unsafe = /[\p{C}\p{Zl}\p{Zp}/\\:*?"<>|]/gu
/** The longest name that every common file system takes, in bytes of UTF-8. */
const longestBytes = 255
/** A longer ending is no extension. */
const longestExtension = 20

/**
 * The name under which an uploaded file is handed out: visible, without a path, neither hidden nor a device, and no longer than
 * file systems take. Rows outlive rules, so this holds for any text.
 */
export const downloadName = (filename: string): string => {
  const visible = filename.toWellFormed().replaceAll(unsafe, '_').trim()
  const plain = visible.replace(/^[.\s]+/u, '').replace(/[.\s]+$/u, '')
  return shortened(isDevice(plain) ? `_${plain}` : plain) || 'artifact'
}

/** Windows takes these for devices, whatever extension they have. */
const isDevice = (name: string): boolean => /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i.test(name)

/** Cuts the stem, since it is the extension that says how a file is opened. */
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

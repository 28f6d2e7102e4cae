const byteUnits = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const

/** `4.2 MiB`; whole bytes below a KiB. */
export const bytesInWords = (bytes: number): string => {
  if (bytes === 1) return '1 byte'
  const power = bytes < 1024 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), byteUnits.length - 1)
  return `${(bytes / 1024 ** power).toFixed(power === 0 ? 0 : 1)} ${byteUnits[power] ?? ''}`
}

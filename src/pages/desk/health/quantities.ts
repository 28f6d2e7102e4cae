const byteUnits = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const

/** `4.2 MiB`; whole bytes below a KiB. */
export const bytesInWords = (bytes: number): string => {
  const power = bytes < 1024 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), byteUnits.length - 1)
  return `${(bytes / 1024 ** power).toFixed(power === 0 ? 0 : 1)} ${byteUnits[power] ?? ''}`
}

const parts = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const

/** The two largest parts: `3 days 4 hours`, `1 minute 5 seconds`. */
export const durationInWords = (seconds: number): string => {
  const words = parts.flatMap(([name, size], index) => {
    const larger = parts[index - 1]?.[1] ?? Number.POSITIVE_INFINITY
    const number = Math.floor((seconds % larger) / size)
    return number === 0 ? [] : [`${number} ${name}${number === 1 ? '' : 's'}`]
  })
  return words.length === 0 ? '0 seconds' : words.slice(0, 2).join(' ')
}

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

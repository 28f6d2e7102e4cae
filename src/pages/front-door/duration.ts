const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const

/** A lifetime in words, in the largest unit that tells it exactly: "30 days", "1 hour", "90 minutes". */
export const inWords = (seconds: number): string => {
  const [name, size] = units.find(([, unit]) => seconds % unit === 0) ?? (['second', 1] as const)
  const count = seconds / size
  return `${count} ${name}${count === 1 ? '' : 's'}`
}

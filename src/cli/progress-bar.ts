export type ProgressBar = ReturnType<typeof startProgressBar>

const width = 30
const longestSilenceMs = 50

/**
 * A progress bar on standard error if that is a terminal, otherwise nothing. Without a total it shows only its text.
 */
export const startProgressBar = (
  total: number | null,
  terminal: { readonly isTTY?: boolean; write(text: string): unknown } = process.stderr,
  monotonicMs: () => number = () => performance.now(),
) => {
  let done = 0
  let said = ''
  let drawnAt = Number.NEGATIVE_INFINITY

  const draw = () => {
    if (terminal.isTTY !== true || monotonicMs() - drawnAt < longestSilenceMs) return
    drawnAt = monotonicMs()
    terminal.write(`\r\x1b[K${total === null ? '' : `${bar(total === 0 ? 1 : Math.min(1, done / total))} `}${said}`)
  }
  return {
    advance: (amount: number): void => {
      done += amount
      draw()
    },
    /** Sets the text after the bar. */
    say: (text: string): void => {
      said = text
      draw()
    },
    /** Removes the bar. */
    end: (): void => {
      if (drawnAt === Number.NEGATIVE_INFINITY) return
      drawnAt = Number.NEGATIVE_INFINITY
      terminal.write('\r\x1b[K')
    },
  }
}

const bar = (share: number): string => {
  const filled = Math.round(share * width)
  return `[${'#'.repeat(filled)}${'.'.repeat(width - filled)}] ${String(Math.floor(share * 100)).padStart(3)}%`
}

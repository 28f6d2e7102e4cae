export type ProgressBar = {
  advance(amount: number): void
  /** The text beside the bar. */
  say(text: string): void
  /** Removes the bar. */
  end(): void
}

const width = 30
const longestSilenceMs = 50

/**
 * A progress bar on standard error if that is a terminal, otherwise nothing. Without a total it shows only its text.
 */
export const startProgressBar = (
  total: number | null,
  terminal: { readonly isTTY?: boolean; write(text: string): unknown } = process.stderr,
  monotonicMs: () => number = () => performance.now(),
): ProgressBar => {
  if (terminal.isTTY !== true) return { advance: () => undefined, say: () => undefined, end: () => undefined }
  let done = 0
  let said = ''
  let drawnAt = Number.NEGATIVE_INFINITY

  const draw = () => {
    if (monotonicMs() - drawnAt < longestSilenceMs) return
    drawnAt = monotonicMs()
    terminal.write(`\r\x1b[K${total === null ? '' : `${bar(total === 0 ? 1 : Math.min(1, done / total))} `}${said}`)
  }
  return {
    advance: (amount) => {
      done += amount
      draw()
    },
    say: (text) => {
      said = text
      draw()
    },
    end: () => {
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

import { programCommand } from '../../support/program.ts'

/** The real program at a terminal, with somebody who types. */
type Terminal = {
  /** Everything that was on the screen so far. */
  screen(): string
  /** Waits until the text is on the screen, looking from where the last wait ended. */
  shows(text: string): Promise<void>
  type(text: string): void
  /** Waits for the end: exit code, or the signal that ended it. */
  ended(): Promise<number | string>
}

const patienceMs = 15_000

/**
 * Runs words of a shell at a terminal of its own; `$AP` in them is the program. Whatever the program leaves of the
 * terminal, the next words in the shell find.
 */
export const atTerminal = (words: string, env: Readonly<Record<string, string>>): Terminal => {
  const decoder = new TextDecoder()
  let screen = ''
  let seen = 0
  const closed = Promise.withResolvers<void>()
  const child = Bun.spawn(['/bin/sh', '-c', words], {
    env: { PATH: process.env['PATH'] ?? '', TERM: 'xterm', AP: programCommand.join(' '), ...env },
    terminal: {
      cols: 120,
      rows: 40,
      data: (_, chunk) => void (screen += decoder.decode(chunk, { stream: true })),
      exit: () => closed.resolve(),
    },
  })
  return {
    screen: () => screen,
    shows: async (text) => {
      const giveUpAt = performance.now() + patienceMs
      while (!screen.slice(seen).includes(text)) {
        if (performance.now() > giveUpAt) throw new Error(`"${text}" is not on the screen: ${screen}`)
        await Bun.sleep(10)
      }
      seen = screen.indexOf(text, seen) + text.length
    },
    type: (text) => void child.terminal?.write(text),
    ended: async () => {
      const code = await child.exited
      await closed.promise // only now is on the screen what it wrote last
      child.terminal?.close()
      return child.signalCode ?? code
    },
  }
}

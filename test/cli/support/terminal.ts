import { programCommand } from '../../support/program.ts'

/** The real program at a terminal that the test types into. */
type Terminal = {
  /** Everything written to the screen so far. */
  screen(): string
  /** Waits until the text is on the screen, after the text that the previous wait found. */
  shows(text: string): Promise<void>
  type(text: string): void
  /** Waits for the end and returns the exit code or the signal. */
  ended(): Promise<number | string>
}

const patienceMs = 60_000 // a busy machine takes long to start a program

/**
 * Runs a shell command line at its own terminal. `$AP` in it is the program. Later commands of the line run in the same
 * terminal, in the state that the program left.
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
      await closed.promise // only then is the last output on the screen
      child.terminal?.close()
      return child.signalCode ?? code
    },
  }
}

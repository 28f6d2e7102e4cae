import { programCommand } from './program.ts'

export type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string }

/** Runs the real program to its end. `under` is another program that starts it, such as setpriv. */
export const runProgram = async (
  args: readonly string[],
  under: readonly string[] = [],
  settings: Readonly<Record<string, string>> = {},
): Promise<Ran> => {
  const child = Bun.spawn([...under, ...programCommand, ...args], {
    env: { PATH: process.env['PATH'] ?? '', ...settings },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { code, stdout, stderr }
}

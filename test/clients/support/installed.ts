/** Packages of Debian that the tests of this folder run, and the programs or modules that prove them there. */
const python = '/usr/bin/python3' // Debian's own: another one does not see Debian's packages
const searched = `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`

const missing = (what: string, debianPackage: string): Error =>
  new Error(
    `The tests in test/clients run ${what}, and there is none on this machine: install it ` +
      `(Debian: apt-get install -y --no-install-recommends ${debianPackage}).`,
  )

/**
 * Where a program is.
 * @throws Error with a sentence that says how to install it
 */
export const installedProgram = (name: string, debianPackage: string): string => {
  const path = Bun.which(name, { PATH: searched })
  if (path === null) throw missing(name, debianPackage)
  return path
}

/**
 * Debian's Python, when it has that module.
 * @throws Error with a sentence that says how to install it
 */
export const pythonWith = async (module: string, debianPackage: string): Promise<string> => {
  const found = Bun.which(python) !== null && (await succeeds([python, '-c', `import ${module}`]))
  if (!found) throw missing(`Python's ${module}`, debianPackage)
  return python
}

const succeeds = async (command: readonly string[]): Promise<boolean> =>
  (await Bun.spawn([...command], { stdout: 'ignore', stderr: 'ignore' }).exited) === 0

import { existsSync } from 'node:fs'
import type { Browser } from 'playwright-core'
import { killNeighbours, startNeighbours } from './neighbours.ts'

/** The one without windows does the same work in a third of the time. */
const usualPlaces = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium']
const executablePath = process.env['CHROMIUM'] ?? usualPlaces.find((path) => existsSync(path)) ?? '/usr/bin/chromium'
let launched: Promise<Browser> | null = null

/**
 * The one Chromium of this test process, started when a test first needs it. It knows this machine and the hosts of
 * `neighbours.ts`, and no others.
 * @throws Error with a sentence that says how to install it
 */
export const startChromium = async (): Promise<Browser> => await (launched ??= launch())

const launch = async (): Promise<Browser> => {
  if (!existsSync(executablePath)) {
    throw new Error(
      `The tests in test/pages drive Chromium, and there is none at ${executablePath}: install it ` +
        `(Debian: apt-get install -y --no-install-recommends chromium-headless-shell), or say where it is: CHROMIUM=/path/to/chromium.`,
    )
  }
  // Only now: to load it takes a second, which tests without pages need not wait for.
  const [{ chromium }, neighbours] = await Promise.all([import('playwright-core'), startNeighbours()])
  return await chromium.launch({
    executablePath,
    env: { ...process.env, LC_ALL: 'C.UTF-8' }, // else a machine without a language saves all files as "download"
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      `--host-resolver-rules=MAP *.example 127.0.0.1:${neighbours.port}, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost`,
    ],
  })
}

/** Ends Chromium, if it was ever started. */
export const stopChromium = async (): Promise<void> => {
  const ending = launched
  launched = null
  await ending?.then(
    (browser) => browser.close(),
    () => undefined,
  )
  killNeighbours()
}

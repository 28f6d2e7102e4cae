import type { Browser } from 'playwright-core'
import { programAt } from '../../support/needs.ts'
import { killNeighbours, startNeighbours } from './neighbours.ts'

let launched: Promise<Browser> | null = null

/**
 * The one Chromium of this test process, started when a test first needs it. It knows this machine and the hosts of
 * `neighbours.ts`, and no others.
 * @throws Error with a sentence that says how to install it
 */
export const startChromium = async (): Promise<Browser> => await (launched ??= launch())

const launch = async (): Promise<Browser> => {
  const executablePath = programAt('Chromium')
  // Loaded here because it takes a second, which tests without pages should not wait for.
  const [{ chromium }, neighbours] = await Promise.all([import('playwright-core'), startNeighbours()])
  return await chromium.launch({
    executablePath,
    env: { ...process.env, LC_ALL: 'C.UTF-8' }, // else a machine without a language saves all files as "download"
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      // Every page is new, and what compiles long for it costs more than it gains: half of the time of judging it with axe.
      '--js-flags=--no-opt --no-maglev',
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

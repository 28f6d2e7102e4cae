import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { startChromium } from './chromium.ts'
import { type FaultWatch, watchFaults } from './faults.ts'

export type BrowserOptions = {
  readonly javaScript?: boolean
  readonly width?: 'phone' | 'desktop'
  readonly theme?: 'light' | 'dark'
  /** Other origins that the page may go to: `https://<name>.example`, see `neighbours.ts`. */
  readonly alsoReaches?: readonly string[]
  /** Faults that this test provokes; it fails if one of them does not occur. */
  readonly foreseen?: readonly RegExp[]
}

export const phone = { width: 360, height: 740 }
export const desktop = { width: 1280, height: 800 }
const sizes: Readonly<Record<'phone' | 'desktop', BrowserContextOptions>> = {
  phone: { viewport: phone, isMobile: true, hasTouch: true },
  desktop: { viewport: desktop },
}

const open = new Map<BrowserContext, FaultWatch>()

/**
 * A browser of its own, with its own cookies, that starts at the server: `page.goto('/account')`. With JavaScript, at
 * desktop width and light unless said otherwise. It is closed after the test, and fails it when a page logged an error,
 * broke its Content-Security-Policy, had something fail to load, or went to a host that was not named here.
 */
export const openBrowser = async (serverUrl: string, options: BrowserOptions = {}): Promise<Page> => {
  const chromium = await startChromium()
  const context = await chromium.newContext({
    ...sizes[options.width ?? 'desktop'],
    baseURL: serverUrl,
    javaScriptEnabled: options.javaScript ?? true,
    colorScheme: options.theme ?? 'light',
    reducedMotion: 'reduce', // so that nobody looks at a colour half-way between two
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin', // not UTC, so that a time in the wrong zone shows
    ignoreHTTPSErrors: true,
  })
  context.setDefaultTimeout(60_000) // a busy machine draws slowly
  open.set(
    context,
    watchFaults(context, [new URL(serverUrl).origin, ...(options.alsoReaches ?? [])], options.foreseen ?? []),
  )
  return await context.newPage()
}

/**
 * Closes what the test opened.
 * @throws Error that lists what went wrong in it
 */
export const closeBrowsers = async (): Promise<void> => {
  const faults: string[] = []
  for (const [context, watch] of open) {
    open.delete(context)
    await context.close()
    faults.push(...watch.faults())
  }
  if (faults.length > 0) throw new Error(`In the browser:\n${faults.map((fault) => `- ${fault}`).join('\n')}`)
}

import type { BrowserContext } from 'playwright-core'

export type FaultWatch = { faults(): readonly string[] }

/** Chromium logs this for every answer from 400 on. The answer itself decides whether it is a fault. */
const statusNotice = /^Failed to load resource: the server responded with a status of/

/** Records every fault that the developer tools of this browser would show. */
export const watchFaults = (
  context: BrowserContext,
  reachable: readonly string[],
  foreseen: readonly RegExp[],
): FaultWatch => {
  const seen: string[] = []
  context.on('console', (message) => {
    const text = message.text()
    const isBad = message.type() === 'error' || message.type() === 'warning'
    if (isBad && !statusNotice.test(text)) seen.push(`console: ${text} (${message.location().url})`)
  })
  context.on('weberror', (error) => seen.push(`script: ${error.error().message}`))
  context.on('dialog', (dialog) => {
    seen.push(`dialog: ${dialog.message()}`) // no page of ours opens one: somebody's text ran as a script
    void dialog.dismiss()
  })
  context.on('request', (request) => {
    const { protocol, origin } = new URL(request.url())
    if (protocol.startsWith('http') && !reachable.includes(origin)) seen.push(`went to ${request.url()}`)
  })
  context.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText ?? ''
    // A request is aborted when a person leaves the page before its answer. That is no fault.
    if (reason !== 'net::ERR_ABORTED') seen.push(`failed: ${request.url()} (${reason})`)
  })
  context.on('response', (response) => {
    const isPage = response.request().resourceType() === 'document' // a page may well say no; a part of it may not be missing
    if (response.status() >= (isPage ? 500 : 400)) seen.push(`${response.status()}: ${response.url()}`)
  })
  return {
    faults: () => [
      ...seen.filter((fault) => !foreseen.some((pattern) => pattern.test(fault))),
      ...foreseen
        .filter((pattern) => !seen.some((fault) => pattern.test(fault)))
        .map((pattern) => `no ${pattern} came`),
    ],
  }
}

import { argv } from 'node:process'

/**
 * Uploads different artifacts of 10 MiB back to back until SIGTERM, then prints how many. The body is made once and only a few of
 * its characters change, so that the load generator keeps the core.
 */
const [, , port = '', token = ''] = argv
const artifactBytes = 10 * 1024 * 1024
const content = Buffer.alloc(artifactBytes)
for (let at = 0; at < artifactBytes; at += 65_536) crypto.getRandomValues(content.subarray(at, at + 65_536))
const head = '{"version":"1.0.0","artifact":{"filename":"app.tar.gz","contentBase64":"'
const body = Buffer.from(`${head}${content.toString('base64')}"}}`)

let uploads = 0
const ending = new AbortController()
process.once('SIGTERM', () => ending.abort())
const startedAt = performance.now()
while (!ending.signal.aborted) {
  body.write(String(uploads).padStart(12, '0'), head.length) // twelve digits are base64 as well
  const answer = await fetch(`http://127.0.0.1:${port}/api/app-platform/versions`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
      'X-Service-Api-Version': '2026-08',
      'Idempotency-Key': crypto.randomUUID(),
    },
    body,
  })
  if (!answer.ok) throw new Error(`An upload was answered with ${answer.status}: ${await answer.text()}`)
  uploads += 1
}
const seconds = (performance.now() - startedAt) / 1000
process.stdout.write(`${JSON.stringify({ uploads, seconds })}\n`)

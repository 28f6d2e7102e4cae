import { openAuth } from './better-auth.mjs'

const [, , folder, synchronous] = process.argv
const { auth } = await openAuth(folder, synchronous)
const server = Bun.serve({ hostname: '127.0.0.1', port: 0, development: false, fetch: auth.handler })
process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${server.port}` })}\n`)
process.once('SIGTERM', () => process.exit(0))

import { openProvider } from './oidc.mjs'

const [, , folder, synchronous] = process.argv
const { provider } = await openProvider(folder, synchronous, false)
const server = provider.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` })}\n`)
})
process.once('SIGTERM', () => process.exit(0))

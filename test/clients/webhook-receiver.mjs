import { Webhook } from 'standardwebhooks'
const webhook = new Webhook(process.env.WEBHOOK_SECRET)
const seen = new Set() // for real, in your database
const take = async (request) => {
  const body = await request.text()
  const event = webhook.verify(body, Object.fromEntries(request.headers)) // throws when it is not from the platform
  if (!seen.has(event.id)) console.log(event.type, event.data) // the same event may come twice
  seen.add(event.id)
  return new Response(null, { status: 204 })
}
const tls = { cert: Bun.file(process.env.CERTIFICATE), key: Bun.file(process.env.KEY) }
Bun.serve({ port: 8443, tls, fetch: take, error: () => new Response(null, { status: 400 }) })

import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { Webhook } from 'standardwebhooks'

const webhook = new Webhook(process.env.WEBHOOK_SECRET)
const seen = new Set() // for real, in your database
const take = async (request, response) => {
  try {
    const parts = [] // reading is inside of try: a caller may go away in the middle
    for await (const part of request) parts.push(part)
    const event = webhook.verify(Buffer.concat(parts).toString(), request.headers) // throws if the platform did not send it
    if (!seen.has(event.id)) console.log(event.type, event.data) // the same event may come twice
    seen.add(event.id)
    response.writeHead(204).end()
  } catch {
    response.writeHead(400).end()
  }
}
const tls = { cert: readFileSync(process.env.CERTIFICATE), key: readFileSync(process.env.KEY) }
createServer(tls, take).listen(8443)

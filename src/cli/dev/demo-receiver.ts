import { Webhook } from 'standardwebhooks'
import type { WebhookAnswer, WebhookMessage, WebhookSender } from '../../runtime/webhook-sender.ts'

/** A name that leads nowhere (RFC 2606): whatever is sent there stays in this program. */
export const demoReceiverUrl = 'https://newsletter.example/webhooks'

type DemoReceiver = {
  /** Sends to the receiver of the demo, and to everybody else as it is. */
  readonly sender: WebhookSender
  /** The secret of its endpoint; what comes before that waits. */
  open(secret: string): void
}

/** Stands in for an app's backend, which needs a certificate and a name: verifies what comes as one would, and tells of it. */
export const createDemoReceiver = (beyond: WebhookSender, tell: (line: string) => void): DemoReceiver => {
  const { promise: opened, resolve: open } = Promise.withResolvers<string>()
  return {
    open,
    sender: {
      check: async (url) => (url === demoReceiverUrl ? null : await beyond.check(url)),
      send: async (message) =>
        message.url === demoReceiverUrl ? receive(message, await opened, tell) : await beyond.send(message),
    },
  }
}

const receive = ({ body, headers }: WebhookMessage, secret: string, tell: (line: string) => void): WebhookAnswer => {
  try {
    new Webhook(secret).verify(body, { ...headers })
  } catch {
    return answered(401, 'This receiver knows the first secret of its endpoint and no other.')
  }
  const { type, environment, data } = JSON.parse(body)
  tell(`# webhook ${headers['webhook-id']}: ${type} in ${environment}, verified: ${JSON.stringify(data)}\n`)
  return answered(204, '')
}

const answered = (status: number, answer: string): WebhookAnswer => ({
  status,
  error: null,
  retryAfter: null,
  answer,
  durationMs: 0,
})

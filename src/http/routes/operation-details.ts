import { currentApiVersion } from '../../domain/api-version.ts'

/** What the document says of every contract endpoint, in one form. */

const versionHeader = {
  name: 'X-Service-Api-Version',
  in: 'header',
  required: true,
  description: 'Version of the contract.',
  schema: { type: 'string' as const, enum: [currentApiVersion] },
  example: currentApiVersion,
}

const idempotencyHeader = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'Makes the request safe to send again: 1 to 255 printable ASCII characters, no comma.',
  schema: { type: 'string' as const, minLength: 1, maxLength: 255 },
  example: '7f0c3f1e-create-1.4.0',
}

type Caller = 'appToken' | 'userToken' | 'session' | 'embeddedSession' | 'none'

type Operation = {
  readonly id: string
  readonly summary: string
  readonly description: string
  readonly tag: string
  readonly callers: readonly Caller[]
  /** Whether it takes an `Idempotency-Key`. */
  readonly repeatable?: boolean
}

/** An endpoint beside the contract. */
export const plainDetails = (operation: Operation) => ({
  operationId: operation.id,
  summary: operation.summary,
  description: operation.description,
  tags: [operation.tag],
  security: operation.callers.map((caller): Record<string, string[]> => (caller === 'none' ? {} : { [caller]: [] })),
})

/** An endpoint of the contract: it takes the version header. */
export const operationDetails = (operation: Operation) => ({
  ...plainDetails(operation),
  parameters: operation.repeatable === true ? [versionHeader, idempotencyHeader] : [versionHeader],
})

import { currentApiVersion } from '../../domain/api-version.ts'

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

/** The ways to authenticate, as the document names them; `none` needs no header. */
export type SecurityScheme = 'appToken' | 'userToken' | 'session' | 'embeddedSession' | 'none'

/** What the OpenAPI document says of an endpoint beyond its schemas. */
export type Details = {
  readonly id: string
  readonly summary: string
  readonly description: string
  readonly tag: string
  /** Whether it takes an `Idempotency-Key`. */
  readonly repeatable?: boolean
}

/** The same in the words of OpenAPI. Endpoints of the contract take the version header. */
export const openApiDetails = (details: Details, callers: readonly SecurityScheme[], isContract: boolean) => ({
  operationId: details.id,
  summary: details.summary,
  description: details.description,
  tags: [details.tag],
  security: callers.map((caller): Record<string, string[]> => (caller === 'none' ? {} : { [caller]: [] })),
  ...(isContract
    ? { parameters: details.repeatable === true ? [versionHeader, idempotencyHeader] : [versionHeader] }
    : {}),
})

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
export type SecurityScheme = 'appToken' | 'userToken' | 'session' | 'embeddedSession' | 'serviceKey' | 'none'

/** A part of the path that the caller chooses. */
export type PathParameter = { readonly name: string; readonly description: string; readonly example: string }

/** What the OpenAPI document says of an endpoint beyond its schemas. */
export type Details = {
  readonly id: string
  readonly summary: string
  readonly description: string
  readonly tag: string
  /** Whether it takes an `Idempotency-Key`. */
  readonly repeatable?: boolean
  readonly parameters?: readonly PathParameter[]
}

const pathParameter = ({ name, description, example }: PathParameter) => ({
  name,
  in: 'path',
  required: true,
  description,
  schema: { type: 'string' as const },
  example,
})

/** The same in the words of OpenAPI. Endpoints of the contract take the version header. */
export const openApiDetails = (details: Details, callers: readonly SecurityScheme[], isContract: boolean) => ({
  operationId: details.id,
  summary: details.summary,
  description: details.description,
  tags: [details.tag],
  security: callers.map((caller): Record<string, string[]> => (caller === 'none' ? {} : { [caller]: [] })),
  parameters: [
    ...(details.parameters ?? []).map(pathParameter),
    ...(isContract ? [versionHeader] : []),
    ...(details.repeatable === true ? [idempotencyHeader] : []),
  ],
})

import type { TSchema } from '@sinclair/typebox'
import { currentApiVersion } from '../../domain/api-version.ts'

/** Generators write a comment of its own for each `example`, and none for `examples`. */
export const oneExample = <T>(value: T) => ({ one: { value } })

/** Headers that callers send. */
export const headerParameters = {
  ApiVersion: {
    name: 'X-Service-Api-Version',
    in: 'header',
    required: true,
    description: 'Version of the contract.',
    schema: { type: 'string' as const, enum: [currentApiVersion], default: currentApiVersion },
    examples: oneExample(currentApiVersion),
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description: 'Makes the request safe to send again: 1 to 255 printable ASCII characters, no comma.',
    schema: { type: 'string' as const, minLength: 1, maxLength: 255 },
    examples: oneExample('7f0c3f1e-create-1.4.0'),
  },
}
const referenceTo = (name: keyof typeof headerParameters) => ({ $ref: `#/components/parameters/${name}` })

/** The ways to authenticate, as the document names them; `none` needs no header. */
export type SecurityScheme = 'client' | 'appToken' | 'userToken' | 'session' | 'embeddedSession' | 'serviceKey' | 'none'

/** Each way alone is enough. */
const securityOf: Readonly<Record<SecurityScheme, readonly Record<string, string[]>[]>> = {
  client: [{ client: [] }],
  appToken: [{ appToken: [] }, { oauth2: [] }],
  userToken: [{ userToken: [] }, { oauth2: [] }],
  session: [{ session: [] }, { sessionCookie: [] }],
  embeddedSession: [{ embeddedSession: [] }],
  serviceKey: [{ serviceKey: [] }],
  none: [{}],
}

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
  /** A body that is not JSON. */
  readonly otherBody?: { readonly type: string; readonly schema: TSchema }
}

const pathParameter = ({ name, description, example }: PathParameter) => ({
  name,
  in: 'path',
  required: true,
  description,
  schema: { type: 'string' as const },
  examples: oneExample(example),
})

/** The same in the words of OpenAPI. Endpoints of the contract take the version header. */
export const openApiDetails = (details: Details, callers: readonly SecurityScheme[], isContract: boolean) => ({
  operationId: details.id,
  summary: details.summary,
  description: details.description,
  tags: [details.tag],
  security: callers.flatMap((caller) => securityOf[caller]),
  ...(details.otherBody === undefined ? {} : { otherBody: details.otherBody }),
  parameters: [
    ...(details.parameters ?? []).map(pathParameter),
    ...(isContract ? [referenceTo('ApiVersion')] : []),
    ...(details.repeatable === true ? [referenceTo('IdempotencyKey')] : []),
  ],
})

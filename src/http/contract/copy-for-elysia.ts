import { CloneType, type TSchema } from '@sinclair/typebox'

/**
 * A copy of a schema for Elysia, which adds `additionalProperties` to the schemas it is given, some of them with the
 * first request: the OpenAPI document and the next server in the process read the original.
 */
export const copyForElysia = <T extends TSchema>(schema: T): T => CloneType(schema)

import { type PlatformError, refuse } from '../domain/errors.ts'
import { pathInSchema } from './schema-path.ts'

/** Names the field and nothing it held. `pointer` is where it stands, as a JSON pointer. */
export const fieldRefusal = (schema: unknown, pointer: string): PlatformError => {
  const param = pathInSchema(schema, pointer)
  return param === null ? refuse('invalid_request') : refuse('invalid_request', { param, message: fieldMessage })
}

const fieldMessage = 'A field is missing or has a wrong type or value.'

import { refuse } from '../domain/errors.ts'
import type { Call } from './call.ts'
import { readText } from './strict-json.ts'

/** The fields of a form, each with its values in order of appearance. */
export type FormFields = ReadonlyMap<string, readonly string[]>

/**
 * A body of `application/x-www-form-urlencoded`, read strictly: UTF-8, every percent sign followed by two hex digits, no
 * NUL.
 * @throws payload_too_large, invalid_request
 */
export const readForm = async (call: Call): Promise<FormFields> => parseForm(await readText(call))

const parseForm = (text: string): FormFields => {
  const fields = new Map<string, string[]>()
  for (const pair of text.split('&')) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const name = decode(equals === -1 ? pair : pair.slice(0, equals))
    const value = equals === -1 ? '' : decode(pair.slice(equals + 1))
    const values = fields.get(name)
    // Not a new list for each: one field sent ten thousand times would hold everybody up.
    if (values === undefined) fields.set(name, [value])
    else values.push(value)
  }
  return fields
}

const decode = (text: string): string => {
  try {
    const decoded = decodeURIComponent(text.replaceAll('+', ' '))
    if (!decoded.includes('\0')) return decoded
  } catch {
    // Said below, in the same words.
  }
  throw refuse('invalid_request', { message: 'The form is not properly encoded.' })
}

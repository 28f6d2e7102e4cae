import type { ClientCredentials } from '../../operations/authenticate-client.ts'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * The client of an `Authorization: Basic` header: base64 over `id:secret`, both halves form-encoded (RFC 6749 section
 * 2.3.1, RFC 7617). Null for another scheme, and for what is not encoded like that; nothing is repaired.
 */
export const readBasicCredentials = (header: string): ClientCredentials | null => {
  const encoded = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header)?.[1]
  if (encoded === undefined) return null
  const bytes = Buffer.from(encoded, 'base64')
  if (bytes.toString('base64') !== encoded) return null
  try {
    const text = decoder.decode(bytes)
    const colon = text.indexOf(':')
    if (colon === -1) return null
    return { clientId: formDecoded(text.slice(0, colon)), clientSecret: formDecoded(text.slice(colon + 1)) }
  } catch {
    return null // not UTF-8, or a broken escape
  }
}

const formDecoded = (text: string): string => decodeURIComponent(text.replaceAll('+', ' '))

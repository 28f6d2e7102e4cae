import { statedName } from './entered-name.ts'
import { PlatformError } from './errors.ts'
import { isForeignId } from './identifier.ts'
import { slugFormFault } from './name.ts'
import { faultOfLine, invalidJson, parseStrictJson } from './strict-json.ts'
import { parseTimestamp } from './timestamp.ts'

/** Websites and stores: the only resources of a user that an app can read (spec section 2). */
export const resourceKinds = ['site', 'store'] as const
export type ResourceKind = (typeof resourceKinds)[number]
export const isResourceKind = (text: string): text is ResourceKind => resourceKinds.some((kind) => kind === text)
/** Whether visitors can see it. */
export const resourceStatuses = ['draft', 'published', 'archived'] as const
export type ResourceStatus = (typeof resourceStatuses)[number]

/** How a line names a user: by email address, or by the builder's own ID. */
export type OwnerName = { readonly by: 'email' | 'externalId'; readonly text: string }

/** One website or store in an import. What is not given is null. */
export type ResourceLine = {
  readonly owner: OwnerName
  readonly externalId: string | null
  readonly kind: ResourceKind
  readonly name: string
  readonly slug: string
  readonly status: ResourceStatus
  readonly createdAt: number | null
  readonly updatedAt: number | null
  readonly publishedAt: number | null
}
type ReadResource =
  { readonly kind: 'resource'; readonly resource: ResourceLine } | { readonly kind: 'fault'; readonly message: string }

/** Reads the JSON text of one resource; unknown fields are ignored. A fault names its field. The builder's own must have its IDs. */
export const readResource = (text: string, isOfBuilder: boolean): ReadResource => {
  try {
    return { kind: 'resource', resource: resourceOf(objectIn(text), isOfBuilder) }
  } catch (error) {
    if (error instanceof FieldFault) return { kind: 'fault', message: error.message }
    if (error instanceof PlatformError) return { kind: 'fault', message: faultOfLine(error) }
    throw error
  }
}

const resourceOf = (record: object, isOfBuilder: boolean): ResourceLine => {
  const owner = isOfBuilder ? ownerById(record) : ownerOf(record)
  const hasId = isOfBuilder || fieldOf(record, 'externalId') !== undefined
  const externalId = hasId ? textOf(record, 'externalId') : null
  if (externalId !== null && !isForeignId('external ID', externalId)) {
    throw new FieldFault('externalId', 'This must be 1 to 128 visible ASCII characters, and not one or two dots.')
  }
  const kind = oneOf(record, 'kind', resourceKinds)
  const stated = textOf(record, 'name')
  const slug = textOf(record, 'slug')
  const fault = slugFormFault(slug)
  if (fault !== null) throw new FieldFault('slug', fault)
  const name = statedName(stated, slug)
  const status = oneOf(record, 'status', resourceStatuses)
  const createdAt = timeOf(record, 'createdAt')
  const updatedAt = timeOf(record, 'updatedAt')
  const publishedAt = timeOf(record, 'publishedAt')
  if (createdAt !== null && updatedAt !== null && updatedAt < createdAt) {
    throw new FieldFault('updatedAt', 'This is before createdAt.')
  }
  return { owner, externalId, kind, name, slug, status, createdAt, updatedAt, publishedAt }
}

const ownerOf = (record: object): OwnerName => {
  const isByEmail = fieldOf(record, 'owner') !== undefined
  if (isByEmail && fieldOf(record, 'ownerExternalId') !== undefined) {
    throw new FieldFault('owner', 'Name the owner once: by owner or by ownerExternalId.')
  }
  const isById = fieldOf(record, 'ownerExternalId') !== undefined
  return isById ? ownerById(record) : { by: 'email', text: textOf(record, 'owner') }
}

const ownerById = (record: object): OwnerName => ({ by: 'externalId', text: textOf(record, 'ownerExternalId') })

class FieldFault extends Error {
  constructor(field: string, sentence: string) {
    super(`${field}: ${sentence}`)
  }
}

const objectIn = (text: string): object => {
  const value = parseStrictJson(text)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  throw invalidJson()
}

/** Own fields only, not those that every object inherits. */
const fieldOf = (record: object, field: string): unknown => Object.getOwnPropertyDescriptor(record, field)?.value

const textOf = (record: object, field: string): string => {
  const value = fieldOf(record, field)
  if (value === undefined) throw new FieldFault(field, 'This is missing.')
  if (typeof value !== 'string') throw new FieldFault(field, 'This must be a string.')
  return value
}

const oneOf = <T extends string>(record: object, field: string, allowed: readonly T[]): T => {
  const value = textOf(record, field)
  const found = allowed.find((candidate) => candidate === value)
  if (found === undefined) throw new FieldFault(field, `This must be ${allowed.join(' or ')}.`)
  return found
}

/** Null means not given, as in every answer. */
const timeOf = (record: object, field: string): number | null => {
  const value = fieldOf(record, field)
  if (value === undefined || value === null) return null
  const epochMs = typeof value === 'string' ? parseTimestamp(value) : null
  if (epochMs === null) throw new FieldFault(field, 'This must be a time such as 2026-08-01T12:00:00.000Z.')
  return epochMs
}

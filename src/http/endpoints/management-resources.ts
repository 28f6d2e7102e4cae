import { refuse } from '../../domain/errors.ts'
import { isResourceKind, type ResourceKind } from '../../domain/resource.ts'
import { parseTimestamp } from '../../domain/timestamp.ts'
import {
  type BuilderResource,
  deleteBuilderResource,
  findBuilderResource,
  listManagedResources,
  putBuilderResource,
  unknownResource,
} from '../../operations/resources/resources.ts'
import {
  externalIdParameter,
  importedResources,
  importQuery,
  kindParameter,
  resourceListQuery,
  managedResource,
  managedResourceList,
  removedResource,
  resourceLine,
  resourceStatement,
} from '../contract/management.ts'
import { importResources } from '../../operations/resources/import-resources.ts'
import { jsonBody, lineBody, queryOf } from '../endpoint.ts'
import { importSteps } from '../upload-body.ts'
import { managed } from '../management.ts'
import { pageRequest, wireCursor, wireTime, wireTimeOrNull } from '../wire.ts'

const path = '/resources/:kind/:externalId'
const parameters = [kindParameter, externalIdParameter]

type Path = Readonly<Record<string, string>>

/** @throws route_not_found for a kind that does not exist */
const kindIn = ({ kind = '' }: Path): ResourceKind => {
  if (!isResourceKind(kind)) throw refuse('route_not_found')
  return kind
}
const named = (place: Path) => ({ kind: kindIn(place), externalId: place['externalId'] ?? '' })

const wireResource = (resource: BuilderResource) => ({
  ...resource,
  createdAt: wireTime(resource.createdAt),
  updatedAt: wireTime(resource.updatedAt),
  publishedAt: wireTimeOrNull(resource.publishedAt),
})

/** @throws invalid_request for a text that is no time */
const timeOf = (param: string, value: string | undefined): number | null => {
  if (value === undefined) return null
  const epochMs = parseTimestamp(value)
  if (epochMs === null)
    throw refuse('invalid_request', { param, message: 'The time must be like 2026-08-01T12:00:00.000Z.' })
  return epochMs
}

export const putResource = managed({
  method: 'PUT',
  path,
  right: 'resources:write',
  body: jsonBody(resourceStatement),
  answers: { 200: managedResource, 201: managedResource },
  errors: ['slug_taken', 'route_not_found'],
  id: 'putResource',
  summary: 'Create a website or store, or replace what is stored',
  description: 'A change of owner ends the installs on it.',
  parameters,
  run: async (door, call, { actor, path: place, body }) => {
    const times = { createdAt: timeOf('createdAt', body.createdAt), updatedAt: timeOf('updatedAt', body.updatedAt) }
    const stated = { ...body, ...named(place), ...times }
    const { resource, created } = await putBuilderResource(door.platform, call, actor, stated)
    call.status = created ? 201 : 200
    return wireResource(resource)
  },
})

export const readOneResource = managed({
  method: 'GET',
  path,
  right: 'resources:read',
  answers: { 200: managedResource },
  errors: ['record_not_found', 'route_not_found'],
  id: 'getResource',
  summary: 'Read a website or store',
  description: 'The website or store of this external ID.',
  parameters,
  run: async (door, _, { path: place }) => {
    const resource = await findBuilderResource(door.platform, named(place))
    if (resource === null) throw unknownResource()
    return wireResource(resource)
  },
})

export const deleteResource = managed({
  method: 'DELETE',
  path,
  right: 'resources:write',
  answers: { 200: removedResource },
  errors: ['record_not_found', 'route_not_found'],
  id: 'deleteResource',
  summary: 'Remove a website or store',
  description: 'Ends the installs on it and forgets its name.',
  parameters,
  run: async (door, call, { actor, path: place }) =>
    await deleteBuilderResource(door.platform, call, actor, named(place)),
})

export const importResourceLines = managed({
  method: 'POST',
  path: '/resources/import',
  right: 'resources:write',
  query: queryOf(importQuery),
  body: lineBody,
  otherBody: { type: 'application/x-ndjson', schema: resourceLine },
  answers: { 200: importedResources },
  id: 'importResources',
  summary: 'Create, replace and remove many websites and stores',
  description:
    'The body has one JSON object per line, up to 256 MiB in all. All lines are stored or, if some are wrong, none: `details.lines` names the first twenty. The same file again changes nothing. A change of owner and a removal end the installs.',
  run: async (door, call, { actor, query, unchecked }) =>
    await importResources(door.platform, call, actor, {
      chunks: importSteps(door, call),
      progress: () => undefined,
      isOfBuilder: true,
      prunes: query.prune === 'true',
      unchecked,
    }),
})

export const readResources = managed({
  method: 'GET',
  path: '/resources/:kind',
  right: 'resources:read',
  query: queryOf(resourceListQuery),
  answers: { 200: managedResourceList },
  errors: ['route_not_found'],
  id: 'listResourcesOfBuilder',
  summary: 'List websites or stores',
  description: 'All of one kind, also those that the builder did not send.',
  parameters: [kindParameter],
  run: async (door, _, { path: place, query }) => {
    const { ownerExternalId = null, slug = null, status = null } = query
    const asked = { kind: kindIn(place), ownerExternalId, slug, status }
    const page = await listManagedResources(door.platform, asked, pageRequest('resources-of-builder', query))
    return { data: page.data.map(wireResource), nextCursor: wireCursor('resources-of-builder', page.nextCursor) }
  },
})

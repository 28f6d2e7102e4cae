import { refuse } from '../../domain/errors.ts'
import { isResourceKind, type ResourceKind } from '../../domain/resource.ts'
import { parseTimestamp, wireRecord } from '../../domain/timestamp.ts'
import { listBuilderInstalls, moveBuilderInstall } from '../../operations/installs/lists.ts'
import {
  deleteBuilderResource,
  findBuilderResource,
  listManagedResources,
  putBuilderResource,
  unknownResource,
} from '../../operations/resources/resources.ts'
import * as contract from '../contract/management.ts'
import type { PageRequest } from '../../operations/page.ts'
import { importResources } from '../../operations/resources/import-resources.ts'
import { ignoredBody, jsonBody, lineBody, queryOf } from '../endpoint.ts'
import { importSteps } from '../upload-body.ts'
import { managed } from '../management.ts'
import { wirePage } from '../wire.ts'

const path = '/resources/:kind/:externalId'
const parameters = [contract.kindParameter, contract.externalIdParameter]

type Path = Readonly<Record<string, string>>

/** @throws route_not_found for a kind that does not exist */
const kindIn = ({ kind = '' }: Path): ResourceKind => {
  if (!isResourceKind(kind)) throw refuse('route_not_found')
  return kind
}
const named = (place: Path) => ({ kind: kindIn(place), externalId: place['externalId'] ?? '' })

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
  body: jsonBody(contract.resourceStatement),
  answers: { 200: contract.managedResource, 201: contract.managedResource },
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
    return wireRecord(resource)
  },
})

export const readOneResource = managed({
  method: 'GET',
  path,
  right: 'resources:read',
  answers: { 200: contract.managedResource },
  errors: ['record_not_found', 'route_not_found'],
  id: 'getResource',
  summary: 'Read a website or store',
  description: 'The website or store of this external ID.',
  parameters,
  run: async (door, _, { path: place }) => {
    const resource = await findBuilderResource(door.platform, named(place))
    if (resource === null) throw unknownResource()
    return wireRecord(resource)
  },
})

export const deleteResource = managed({
  method: 'DELETE',
  path,
  right: 'resources:write',
  answers: { 200: contract.removedResource },
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
  query: queryOf(contract.importQuery),
  body: lineBody,
  otherBody: { type: 'application/x-ndjson', schema: contract.resourceLine },
  answers: { 200: contract.importedResources },
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
  query: queryOf(contract.resourceListQuery),
  answers: { 200: contract.managedResourceList },
  errors: ['route_not_found'],
  id: 'listResourcesOfBuilder',
  summary: 'List websites or stores',
  description: 'All of one kind, also those that the builder did not send.',
  parameters: [contract.kindParameter],
  run: async (door, _, { path: place, query }) => {
    const { ownerExternalId = null, slug = null, status = null } = query
    const asked = { kind: kindIn(place), ownerExternalId, slug, status }
    const read = async (page: PageRequest) => await listManagedResources(door.platform, asked, page)
    return await wirePage('resources-of-builder', query, read, wireRecord)
  },
})

export const readInstalls = managed({
  method: 'GET',
  path: '/installs',
  right: 'installs:read',
  query: queryOf(contract.installListQuery),
  answers: { 200: contract.managedInstallList },
  id: 'listInstalls',
  summary: 'List installs',
  description: 'Installs of all apps, newest first.',
  run: async (door, _, { query }) => {
    const { approval = null, state = null, app = null, userExternalId = null } = query
    const asked = { approval, state, app, userExternalId }
    const read = async (page: PageRequest) => await listBuilderInstalls(door.platform, asked, page)
    return await wirePage('installs', query, read, wireRecord)
  },
})

const step = (name: 'approve' | 'reject' | 'deactivate', summary: string, description: string) =>
  managed({
    method: 'POST',
    path: `/installs/:id/${name}`,
    right: 'installs:write',
    answers: { 200: contract.managedInstall },
    errors: ['record_not_found', 'version_not_eligible'],
    id: `${name}Install`,
    summary,
    description: `${description} Repeated, it changes nothing.`,
    parameters: [contract.installParameter],
    body: ignoredBody,
    run: async (door, call, { actor, path: { id = '' } }) =>
      wireRecord(await moveBuilderInstall(door.platform, call, actor, { id, step: name })),
  })

export const approveInstall = step('approve', 'Approve an install', 'The app can work for the user at once.')
export const rejectInstall = step('reject', 'Reject an install', 'The user can install the app again.')
export const deactivateInstall = step('deactivate', 'Deactivate an install', 'Ends it for good.')

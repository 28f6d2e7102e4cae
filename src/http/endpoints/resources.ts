import { andThen } from '../../domain/awaitable.ts'
import { refuse } from '../../domain/errors.ts'
import type { ResourceKind } from '../../domain/resource.ts'
import { listResources, scopeToRead } from '../../operations/resources/resources.ts'
import { appOrUserOf, bearer, userOrPageOf } from '../bearer.ts'
import { findInstallForApp, listInstallsForApp, type ToldInstall } from '../../operations/installs/lists.ts'
import * as contract from '../contract/resources.ts'
import { endpoint, queryOf } from '../endpoint.ts'
import { pageRequest, wireCursor, wireTime, wireTimeOrNull } from '../wire.ts'
import { contractPath, pathParametersOf } from '../paths.ts'

export const listBuilderResources = endpoint({
  method: 'GET',
  path: `${contractPath}/resources`,
  caller: bearer('userToken', 'embeddedSession'),
  share: 'read',
  query: queryOf(contract.resourceListQuery),
  answers: { 200: contract.resourceList },
  errors: ['insufficient_scope', 'install_required'],
  details: {
    id: 'listResources',
    summary: 'List builder resources of the signed-in user (preview)',
    description:
      'Needs an approved, active install of the app by this user, and the scope of the kind. An item has no content, orders, customer or payment data.',
    tag: 'Resources',
  },
  isCrossOrigin: true,
  isHot: true,
  run: (door, _, { caller, query }) => {
    const { kind } = query
    if (!isKind(kind)) {
      const allowed = Object.keys(scopeToRead)
      throw refuse('invalid_request', {
        param: 'kind',
        message: `It must be ${allowed.join(' or ')}.`,
        details: { allowed },
      })
    }
    const asked = pageRequest(kind, query)
    const of = { kind, status: query.status ?? null, isInstalled: query.installed === 'true' }
    return andThen(listResources(door.platform, userOrPageOf(caller), of, asked), (page) => ({
      kind,
      data: page.data.map((item) => ({
        name: item.name,
        slug: item.slug,
        status: item.status,
        createdAt: wireTime(item.createdAt),
        updatedAt: wireTime(item.updatedAt),
        publishedAt: wireTimeOrNull(item.publishedAt),
      })),
      nextCursor: wireCursor(kind, page.nextCursor),
    }))
  },
})

const isKind = (text: string | undefined): text is ResourceKind =>
  text !== undefined && Object.hasOwn(scopeToRead, text)

const wireInstall = (install: ToldInstall) => ({
  ...install,
  scopes: [...install.scopes],
  createdAt: wireTime(install.createdAt),
  updatedAt: wireTime(install.updatedAt),
})

export const listToldInstalls = endpoint({
  method: 'GET',
  path: `${contractPath}/installs`,
  caller: bearer('appToken', 'userToken'),
  share: 'read',
  query: queryOf(contract.installQuery),
  answers: { 200: contract.installList },
  details: {
    id: 'listAppInstalls',
    summary: 'List the installs of the calling app',
    description:
      "By a user's token, the installs of this user; by the app's own token, those of everybody that an operator approved. Only installs of the environment of the token.",
    tag: 'Resources',
  },
  isHot: true,
  run: (door, _, { caller, query }) => {
    const asked = pageRequest('installs', query)
    const question = { kind: query.kind ?? null, state: query.state ?? null, externalId: query.resourceId ?? null }
    return andThen(listInstallsForApp(door.platform, appOrUserOf(caller), question, asked), (page) => ({
      data: page.data.map(wireInstall),
      nextCursor: wireCursor('installs', page.nextCursor),
    }))
  },
})

export const readToldInstall = endpoint({
  method: 'GET',
  path: `${contractPath}/installs/:id`,
  caller: bearer('appToken', 'userToken'),
  share: 'read',
  answers: { 200: contract.installRecord },
  errors: ['install_not_found'],
  details: {
    id: 'readAppInstall',
    summary: 'Read one install of the calling app',
    description: 'As the list has it. What the list does not have does not exist here.',
    tag: 'Resources',
    parameters: [contract.installParameter],
  },
  run: async (door, call, { caller }) => {
    const { id = '' } = pathParametersOf(call)
    return wireInstall(await findInstallForApp(door.platform, appOrUserOf(caller), id))
  },
})

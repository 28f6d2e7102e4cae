import { refuse } from '../../domain/errors.ts'
import { parseStrictJson } from '../../domain/strict-json.ts'
import { eraseUser, exportUser, personalDataText } from '../../operations/users/personal-data.ts'
import {
  type BuilderUser,
  endBuilderUserAccess,
  findBuilderUser,
  listBuilderUsers,
  putBuilderUser,
} from '../../operations/users/users.ts'
import {
  endAccessRequest,
  endedAccess,
  erasedUser,
  externalIdParameter,
  importedUsers,
  managedUser,
  managedUserList,
  personalData,
  userLine,
  userListQuery,
  userStatement,
} from '../contract/management.ts'
import { jsonBody, lineBody, queryOf } from '../endpoint.ts'
import { checkOf } from '../schema-check.ts'
import { importSteps } from '../upload-body.ts'
import { importUsers } from '../../operations/users/import-users.ts'
import { managed } from '../management.ts'
import { pageRequest, wireCursor, wireTime } from '../wire.ts'

const path = '/users/:externalId'
const parameters = [externalIdParameter]

const wireUser = (user: BuilderUser) => ({
  ...user,
  createdAt: wireTime(user.createdAt),
  updatedAt: wireTime(user.updatedAt),
})

export const putUser = managed({
  method: 'PUT',
  path,
  right: 'users:write',
  body: jsonBody(userStatement),
  answers: { 200: managedUser, 201: managedUser },
  errors: ['email_taken', 'operator_protected'],
  id: 'putUser',
  summary: 'Create a user, or replace what is stored',
  description:
    'A new user (201) has no password and signs in through the builder. Disabling ends sessions and leaves apps as they are.',
  parameters,
  run: async (door, call, { actor, path: { externalId = '' }, body }) => {
    const { email, name, pictureUrl = null, status = null } = body
    const stated = { externalId, email, name, pictureUrl, status }
    const { user, created } = await putBuilderUser(door.platform, call, actor, stated)
    call.status = created ? 201 : 200
    return wireUser(user)
  },
})

const checkLine = checkOf(userLine)

export const importUserLines = managed({
  method: 'POST',
  path: '/users',
  right: 'users:write',
  body: lineBody,
  otherBody: { type: 'application/x-ndjson', schema: userLine },
  answers: { 200: importedUsers },
  id: 'importUsers',
  summary: 'Create and replace many users',
  description:
    'The body has one JSON object per line, at most 50,000. Each is stored as by PUT; nobody is removed. If some lines are wrong, none is stored: `details.lines` names the first twenty. The same file again changes nothing.',
  run: async (door, call, { actor }) =>
    await importUsers(door.platform, call, actor, {
      chunks: importSteps(door, call),
      read: (line) => {
        const { pictureUrl = null, status = null, ...user } = checkLine(parseStrictJson(line))
        return { ...user, pictureUrl, status }
      },
    }),
})

export const readUser = managed({
  method: 'GET',
  path,
  right: 'users:read',
  answers: { 200: managedUser },
  errors: ['record_not_found'],
  id: 'getUser',
  summary: 'Read a user',
  description: 'The user of this external ID.',
  parameters,
  run: async (door, _, { path: { externalId = '' } }) => {
    const user = await findBuilderUser(door.platform, externalId)
    if (user === null) throw refuse('record_not_found', { param: 'externalId' })
    return wireUser(user)
  },
})

export const readUsers = managed({
  method: 'GET',
  path: '/users',
  right: 'users:read',
  query: queryOf(userListQuery),
  answers: { 200: managedUserList },
  id: 'listUsers',
  summary: 'List users',
  description: 'All users, also those that the builder did not send.',
  run: async (door, _, { query }) => {
    const asked = { email: query.email ?? null, status: query.status ?? null }
    const page = await listBuilderUsers(door.platform, asked, pageRequest('users', query))
    return { data: page.data.map(wireUser), nextCursor: wireCursor('users', page.nextCursor) }
  },
})

export const readPersonalData = managed({
  method: 'GET',
  path: `${path}/export`,
  right: 'users:read',
  answers: { 200: personalData },
  errors: ['record_not_found', 'operator_protected'],
  id: 'exportUser',
  summary: 'Everything that is stored about a person',
  description:
    'As JSON, for the person. Without secrets and hashes. Not of operators: what they did is for the right audit:read.',
  parameters,
  run: async (door, _, { path: { externalId = '' } }) => {
    const user = await findBuilderUser(door.platform, externalId)
    if (user === null) throw refuse('record_not_found', { param: 'externalId' })
    if (user.isOperator) throw refuse('operator_protected')
    const data = personalDataText(await exportUser(door.platform, user.email))
    return new Response(data, { headers: { 'content-type': 'application/json' } })
  },
})

export const eraseOneUser = managed({
  method: 'DELETE',
  path,
  right: 'users:write',
  answers: { 200: erasedUser },
  errors: ['record_not_found', 'operator_protected', 'owns_apps'],
  id: 'eraseUser',
  summary: 'Erase a person',
  description:
    'Ends sessions, grants and installs, removes websites and stores, and removes name, address and picture everywhere. The audit log keeps IDs and times.',
  parameters,
  run: async (door, call, { actor, path: { externalId = '' } }) =>
    await eraseUser(door.platform, call, actor, { externalId }),
})

export const endAccessOfUser = managed({
  method: 'POST',
  path: `${path}/end-access`,
  right: 'users:write',
  body: jsonBody(endAccessRequest),
  answers: { 200: endedAccess },
  errors: ['record_not_found', 'operator_protected'],
  id: 'endUserAccess',
  summary: "End a user's sessions and grants",
  description: 'Call it with `only: "sessions"` when the session at the builder ends.',
  parameters,
  run: async (door, call, { actor, path: { externalId = '' }, body }) => {
    const asked = { externalId, only: body.only ?? null }
    return { sessions: 0, ...(await endBuilderUserAccess(door.platform, call, actor, asked)) }
  },
})

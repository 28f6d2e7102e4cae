import { refuse } from '../../domain/errors.ts'
import { parseStrictJson } from '../../domain/strict-json.ts'
import { wireRecord } from '../../domain/timestamp.ts'
import { eraseUser, exportUser, personalDataText } from '../../operations/users/personal-data.ts'
import {
  endBuilderUserAccess,
  findBuilderUser,
  listBuilderUsers,
  putBuilderUser,
} from '../../operations/users/users.ts'
import * as contract from '../contract/management.ts'
import type { Door } from '../door.ts'
import { jsonBody, lineBody, queryOf } from '../endpoint.ts'
import { checkOf } from '../schema-check.ts'
import { importSteps } from '../upload-body.ts'
import { importUsers } from '../../operations/users/import-users.ts'
import { managed } from '../management.ts'
import { wirePage } from '../wire.ts'

const path = '/users/:externalId'
const parameters = [contract.externalIdParameter]

/** @throws record_not_found */
const userOf = async ({ platform }: Door, externalId: string) => {
  const user = await findBuilderUser(platform, externalId)
  if (user === null) throw refuse('record_not_found', { param: 'externalId' })
  return user
}

export const putUser = managed({
  method: 'PUT',
  path,
  right: 'users:write',
  body: jsonBody(contract.userStatement),
  answers: { 200: contract.managedUser, 201: contract.managedUser },
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
    return wireRecord(user)
  },
})

const checkLine = checkOf(contract.userLine)

export const importUserLines = managed({
  method: 'POST',
  path: '/users',
  right: 'users:write',
  body: lineBody,
  otherBody: { type: 'application/x-ndjson', schema: contract.userLine },
  answers: { 200: contract.importedUsers },
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
  answers: { 200: contract.managedUser },
  errors: ['record_not_found'],
  id: 'getUser',
  summary: 'Read a user',
  description: 'The user of this external ID.',
  parameters,
  run: async (door, _, { path: { externalId = '' } }) => wireRecord(await userOf(door, externalId)),
})

export const readUsers = managed({
  method: 'GET',
  path: '/users',
  right: 'users:read',
  query: queryOf(contract.userListQuery),
  answers: { 200: contract.managedUserList },
  id: 'listUsers',
  summary: 'List users',
  description: 'All users, also those that the builder did not send.',
  run: async (door, _, { query }) => {
    const asked = { email: query.email ?? null, status: query.status ?? null }
    return await wirePage(
      'users',
      query,
      async (page) => await listBuilderUsers(door.platform, asked, page),
      wireRecord,
    )
  },
})

export const readPersonalData = managed({
  method: 'GET',
  path: `${path}/export`,
  right: 'users:read',
  answers: { 200: contract.personalData },
  errors: ['record_not_found', 'operator_protected'],
  id: 'exportUser',
  summary: 'Everything that is stored about a person',
  description:
    'As JSON, for the person. Without secrets and hashes. Not of operators: what they did is for the right audit:read.',
  parameters,
  run: async (door, _, { path: { externalId = '' } }) => {
    const user = await userOf(door, externalId)
    if (user.isOperator) throw refuse('operator_protected')
    const data = personalDataText(await exportUser(door.platform, { userId: user.id }))
    return new Response(data, { headers: { 'content-type': 'application/json' } })
  },
})

export const eraseOneUser = managed({
  method: 'DELETE',
  path,
  right: 'users:write',
  answers: { 200: contract.erasedUser },
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
  body: jsonBody(contract.endAccessRequest),
  answers: { 200: contract.endedAccess },
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

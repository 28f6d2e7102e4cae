import { Elysia } from 'elysia'
import type { BodyRule } from '../admission.ts'
import type { Door } from '../door.ts'
import { introspectionRoute } from './introspect.ts'
import { metadataRoutes } from './metadata.ts'
import { formPaths } from './paths.ts'
import { revocationRoute } from './revoke.ts'
import { tokenRoute } from './token.ts'

/** What any OAuth client off the shelf talks to: the same operations as the contract, in the format of the RFCs. */
export const standardRoutes = (door: Door) =>
  new Elysia().use(metadataRoutes(door)).use(tokenRoute(door)).use(revocationRoute(door)).use(introspectionRoute(door))

const formBodies: BodyRule = { limitBytes: 64 * 1024, mediaTypes: ['application/x-www-form-urlencoded'] }

/** What these routes take as a body. */
export const standardBodyRule = (method: string, pattern: string): BodyRule | undefined =>
  method === 'POST' && formPaths.includes(pattern) ? formBodies : undefined

import { afterAll } from 'bun:test'
import { setOperator } from '../../../src/operations/users/users.ts'
import type { Platform } from '../../../src/operations/platform.ts'
import { operator as commandLine, trace } from '../../support/operator.ts'
import type { ServerOptions } from '../../support/running-server.ts'
import { addUser, createWorld, endWorld, type Login, type World } from '../../support/world.ts'

/** A world with two operators in it. */
export type OperatorWorld = World & { readonly operator: Login; readonly colleague: Login }

export const addOperator = async (platform: Platform, name: string): Promise<Login> => {
  const login = await addUser(platform, name)
  await setOperator(platform, trace, commandLine, { userId: login.id, isOperator: true })
  return login
}

export const createOperatorWorld = async (options: ServerOptions = {}): Promise<OperatorWorld> => {
  const world = await createWorld(options)
  const operator = await addOperator(world.platform, 'Olive Operator')
  return { ...world, operator, colleague: await addOperator(world.platform, 'Carl Colleague') }
}

/** One for all tests of a file. It ends after the last of them. */
export const operatorWorldOfFile = async (options: ServerOptions = {}): Promise<OperatorWorld> => {
  const world = await createOperatorWorld(options)
  afterAll(async () => await endWorld(world))
  return world
}

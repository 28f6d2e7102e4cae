import { afterAll } from 'bun:test'
import type { ServerOptions } from './running-server.ts'
import { createWorld, endWorld, type World } from './world.ts'

/** One world for all tests of a file. It ends after the last of them. */
export const worldOfFile = async (options: ServerOptions = {}): Promise<World> => {
  const world = await createWorld(options)
  afterAll(async () => await endWorld(world))
  return world
}

import { afterAll, afterEach } from 'bun:test'
import type { ServerOptions } from './running-server.ts'
import { createWorld, endWorld, type World } from './world.ts'

/** One world for all tests of a file. It ends after the last of them. */
export const worldOfFile = async (options: ServerOptions = {}): Promise<World> => {
  const world = await createWorld(options)
  afterAll(async () => await endWorld(world))
  return world
}

/** Creates worlds for single tests of the calling file. They end after the test that created them. */
export const worldsOfTests = (): ((options?: ServerOptions) => Promise<World>) => {
  const worlds: World[] = []
  afterEach(async () => {
    for (const world of worlds.splice(0)) await endWorld(world)
  })
  return async (options) => {
    const world = await createWorld(options)
    worlds.push(world)
    return world
  }
}

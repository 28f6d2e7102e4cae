import { expect, test } from 'bun:test'
import { type FrameWindow, openEmbeddedSession } from '../../src/client/index.ts'
import { moveInstall } from '../../src/operations/installs/installs.ts'
import { addEmbeddedInstall, embedOrigin, openInstall } from '../support/embedding.ts'
import { operator, trace } from '../support/operator.ts'
import { addApp, addUser, signIn } from '../support/world.ts'
import { worldOfFile } from '../support/world-of-file.ts'
import { quick } from './support/client.ts'

// A session of 60 seconds is at its renewal at once, so every call needs another code.
const world = await worldOfFile({ env: { LIFETIME_EMBEDDED_SESSION: '60' } })
const { platform, server } = world

/** The page of an installed app, opened in a frame of a page that gives codes as the builder's does. */
const scene = async () => {
  const user = await addUser(platform)
  const app = await addApp(platform, await addUser(platform, 'Dora Developer'))
  const install = await addEmbeddedInstall(platform, app, user)
  const session = await signIn(server.url, user)
  const nextCode = async () => await openInstall(platform, session, install)
  const listeners = new Set<Parameters<FrameWindow['addEventListener']>[1]>()
  let asked = 0
  let shown = ''
  const parent = {
    postMessage: (_: unknown, origin: string) => {
      asked += 1
      const tell = (data: object, from = origin) => {
        for (const listener of listeners) listener({ origin: from, source: parent, data })
      }
      tell({ type: 'app-platform:code', code: 'apic_of_a_stranger' }, 'https://stranger.example')
      void nextCode().then(
        (code) => tell({ type: 'app-platform:code', code }),
        () => tell({ type: 'app-platform:code-refused' }),
      )
    },
  }
  const frame: FrameWindow = {
    location: { hash: `#code=${await nextCode()}&builder=x`, pathname: '/builder', search: '?theme=plain' },
    history: { replaceState: (_, __, address) => void (shown = address) },
    parent,
    addEventListener: (_, listener) => void listeners.add(listener),
    removeEventListener: (_, listener) => void listeners.delete(listener),
  }
  const agents = new Set<boolean>()
  const fromPage = async (url: URL, init: RequestInit) => {
    const headers = new Headers(init.headers)
    agents.add(headers.has('user-agent'))
    headers.set('Origin', embedOrigin(app))
    return await fetch(url, { ...init, headers })
  }
  const options = { url: server.url, clientId: app.production.clientId, fetch: fromPage, retry: quick }
  return { user, install, frame, options, listeners, agents, seen: () => ({ asked, shown }) }
}

test('a page in a frame takes its code, renews its session as long as the builder lets it, and then stops', async () => {
  const { user, install, frame, options, listeners, agents, seen } = await scene()
  const session = await openEmbeddedSession(frame, options)
  expect(session.install).toMatchObject({ id: install, resource: 'my-store' })
  expect(seen()).toEqual({ asked: 0, shown: '/builder?theme=plain' })
  expect(await session.me()).toMatchObject({ id: user.id, installId: install })
  const sites = await Array.fromAsync(session.allResources({ kind: 'site' }))
  expect(sites.map(({ slug }) => slug)).toEqual(['my-site'])
  expect(seen().asked).toBeGreaterThan(0)
  await moveInstall(platform, trace, operator, { id: install, step: 'deactivate' })
  expect(await session.me().catch(({ code }) => code)).toBe('session_ended')
  expect(listeners.size).toBe(0)
  expect([...agents]).toEqual([false]) // a header that no preflight allows would end every call
})

test('a page that was not opened by the builder gets no session', async () => {
  const { frame, options } = await scene()
  const opened = openEmbeddedSession({ ...frame, location: { ...frame.location, hash: '' } }, options)
  expect(await opened.catch(({ code }) => code)).toBe('code_missing')
})

import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { backUp } from '../support/database-file.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { fill } from './fill.ts'
import { startPlatform, startServing } from './processes.ts'
import { check, firstAnswer, introspection } from './requests.ts'

test('the shortest server of the benchmark gives the same answers as the platform', async () => {
  const folder = temporaryFolder()
  const [file, copy] = [join(folder, 'app-platform.db'), join(folder, 'bare.db')]
  const { platform, requests } = await fill(file, 10)
  backUp(file, copy)
  const command = [process.execPath, join(import.meta.dir, 'bare-server.ts'), copy]
  const bare = await startServing({ command, log: join(folder, 'bare.log') })
  const ours = await startPlatform(folder, file)
  try {
    const answersOf = async (request = '') => {
      const answers = [await firstAnswer(bare.port, request), await firstAnswer(ours.port, request)]
      return answers.map(([, { body }]): Record<string, unknown> => JSON.parse(body))
    }
    const [bareMe, ourMe] = await answersOf(requests.me[0])
    expect(bareMe).toEqual(ourMe ?? {})
    const asked = check(requests.me[0] ?? '')
    const checks = [await firstAnswer(bare.port, asked), await firstAnswer(ours.port, asked)]
    const [bareCheck, ourCheck] = checks.map(([, { status, headers }]) => ({
      status,
      about: ['x-app-id', 'x-user-external-id', 'x-scope'].map((name) => headers[name]),
    }))
    expect(bareCheck).toEqual(ourCheck ?? { status: 0, about: [] })
    const [bareToken, ourToken] = await answersOf(requests.token[0])
    expect({ ...bareToken, accessToken: '' }).toEqual({ ...ourToken, accessToken: '' })
    const [bareResources, ourResources] = await answersOf(requests.resources[0])
    expect(bareResources).toEqual(ourResources ?? {})
    const [bareFacts, ourFacts] = await answersOf(introspection(requests.refresh[0] ?? '', requests.resources[0] ?? ''))
    expect({ ...bareFacts, iss: '' }).toEqual({ ...ourFacts, iss: '' })
    const [barePair, ourPair] = await answersOf(requests.refresh[0])
    const secrets = { accessToken: '', refreshToken: '' }
    expect({ ...barePair, ...secrets }).toEqual({ ...ourPair, ...secrets })
  } finally {
    await bare.stop()
    await ours.stop()
    await platform.database.close()
  }
})

import type { Command } from 'commander'
import { get } from 'node:http'
import { programEnvironment } from '../../config.ts'
import type { ConfigFlags } from '../../config/setting.ts'
import { answer, CommandFailed } from '../output.ts'
import { deploymentOf } from '../print/deployment.ts'

/** The health check of the printed Containerfile ends after five seconds. */
const patienceMs = 4_000

export const addHealthCommand = (program: Command): void => {
  program
    .command('health')
    .description('Ask the server on this machine whether it is ready. Exits 0 if it is, 1 if not.')
    .option('--port <number>', 'the port that the server listens on (PORT, default 3000)')
    .option('--host <address>', 'the address that the server listens on (HOST, default 127.0.0.1)')
    .option('--json', 'print exactly one JSON value on stdout')
    .action(async (flags: ConfigFlags & { readonly json?: boolean }) => {
      const { upstream } = deploymentOf(flags, programEnvironment(), { executable: null, needed: ['HOST', 'PORT'] })
      const { status, text } = await ask(`http://${upstream}/readyz`)
      if (status !== 200) throw new CommandFailed([`The server on ${upstream} is not ready${reasonsIn(text)}.`])
      answer(flags, { value: { upstream, ready: true }, text: `The server on ${upstream} is ready.` })
    })
}

type Asked = { readonly status: number; readonly text: string }

/** Through node:http, because `fetch` would send it through the proxy that HTTP_PROXY names. @throws CommandFailed */
const ask = async (url: string): Promise<Asked> => {
  const { promise, resolve, reject } = Promise.withResolvers<Asked>()
  const request = get(url, { signal: AbortSignal.timeout(patienceMs) }, (response) => {
    let text = ''
    response.setEncoding('utf8')
    response.on('data', (part: string) => void (text += part))
    response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    response.on('error', reject)
  })
  request.on('error', reject)
  try {
    return await promise
  } catch {
    throw new CommandFailed([`No server answers at ${url}: it is not running, or HOST and PORT are not those it has.`])
  }
}

/** The conditions that an operator has to correct; nothing while the server starts or stops. */
const reasonsIn = (text: string): string => {
  try {
    const conditions: unknown = JSON.parse(text)?.error?.details?.conditions
    return Array.isArray(conditions) ? `: ${conditions.join(', ')}` : ''
  } catch {
    return ''
  }
}

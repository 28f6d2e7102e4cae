import { spawn } from 'bun'
import { join } from 'node:path'
import { freePort } from './free-port.ts'

/** An OpenID Connect provider (panva's `oidc-provider`) in a process of its own. */
export const startIdentityProvider = async (redirectUri: string, afterSignOut: string) => {
  const port = freePort()
  const clientSecret = 'a-secret-of-the-test-that-is-long-enough'
  const start = async () => {
    const child = spawn([process.execPath, join(import.meta.dir, 'identity-provider.mjs')], {
      env: {
        ...process.env,
        PORT: String(port),
        REDIRECT_URI: redirectUri,
        AFTER_SIGN_OUT: afterSignOut,
        CLIENT_SECRET: clientSecret,
      },
      stdout: 'ignore',
      stderr: 'ignore',
    })
    for (let attempt = 0; attempt < 200; attempt += 1) {
      const answered = await fetch(`http://localhost:${port}/.well-known/openid-configuration`).catch(() => null)
      if (answered?.ok === true) return child
      await Bun.sleep(50)
    }
    throw new Error('The identity provider did not start.')
  }
  const child = await start()
  const stop = async () => {
    child.kill('SIGKILL')
    await child.exited
  }
  return {
    issuer: `http://localhost:${port}`,
    clientId: 'platform',
    clientSecret,
    stop,
  }
}

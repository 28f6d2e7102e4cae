import { createWorld, endWorld, type World } from '../../support/world.ts'
import { type Certificates, makeCertificates } from './certificates.ts'
import { freePort } from './free-port.ts'
import { proxyAddress, type ReverseProxy, startReverseProxy } from './reverse-proxy.ts'

/** A world in which people and apps reach the server over HTTPS, through a reverse proxy. */
export type ProxiedWorld = World & {
  /** The public origin, which is the issuer. */
  readonly publicUrl: string
  /** PEM file of its certificate authority. */
  readonly authority: string
  readonly proxy: ReverseProxy
}

export const createProxiedWorld = async (): Promise<ProxiedWorld> => {
  const port = freePort()
  const publicUrl = `https://localhost:${port}`
  const certificates: Certificates = await makeCertificates()
  const world = await createWorld({ env: { PUBLIC_URL: publicUrl, TRUSTED_PROXIES: proxyAddress } })
  const proxy = await startReverseProxy({ port, upstream: world.server.url, certificates })
  return { ...world, publicUrl, authority: certificates.authority, proxy }
}

export const endProxiedWorld = async (world: ProxiedWorld): Promise<void> => {
  await world.proxy.stop()
  await endWorld(world)
}

import { createWorld, endWorld, type World } from '../../support/world.ts'
import { type Certificates, makeCertificates } from './certificates.ts'
import { freePort } from './free-port.ts'
import { proxyAddress, type ReverseProxy, startReverseProxy } from './reverse-proxy.ts'

/** A world as it is on the internet: people and apps reach the server over HTTPS, through a reverse proxy. */
export type ProxiedWorld = World & {
  /** The origin that all of them see; the issuer. */
  readonly publicUrl: string
  /** PEM file of the authority that vouches for it. */
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

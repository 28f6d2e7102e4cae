import { authorizeBody, exchangeBody } from '../../support/world.ts'
import type { AppInWorld } from '../../support/world.ts'

/** The ten endpoints: who calls each, and a body that is well formed. */
type ContractRoute = {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly caller: 'none' | 'app' | 'user' | 'session'
  readonly body?: (app: AppInWorld) => Readonly<Record<string, unknown>>
}

export const contractRoutes: readonly ContractRoute[] = [
  { method: 'POST', path: '/token', caller: 'none', body: (app) => ({ ...app.development, scope: 'site:read' }) },
  { method: 'GET', path: '/me', caller: 'app' },
  { method: 'GET', path: '/versions', caller: 'app' },
  { method: 'POST', path: '/versions', caller: 'app', body: () => ({ version: '1.0.0' }) },
  { method: 'POST', path: '/versions/rollback', caller: 'app', body: () => ({}) },
  { method: 'POST', path: '/oauth/authorize', caller: 'session', body: (app) => authorizeBody(app) },
  { method: 'POST', path: '/oauth/token', caller: 'none', body: (app) => exchangeBody(app, 'apco_nothing') },
  { method: 'GET', path: '/oauth/me', caller: 'user' },
  { method: 'POST', path: '/oauth/revoke', caller: 'none', body: (app) => ({ ...app.development, token: 'nothing' }) },
  { method: 'GET', path: '/resources?kind=site', caller: 'user' },
]
export const bearerRoutes = contractRoutes.filter(({ caller }) => caller !== 'none')
export const bodyRoutes = contractRoutes.filter(({ method }) => method === 'POST')

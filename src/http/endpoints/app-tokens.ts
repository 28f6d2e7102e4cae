import { appOf, bearer } from '../bearer.ts'
import * as contract from '../contract/oauth.ts'
import { endpoint, jsonBody } from '../endpoint.ts'
import { contractPath } from '../paths.ts'
import { wireTime } from '../wire.ts'
import { issueForApp } from './grants.ts'

export const issueToken = endpoint({
  method: 'POST',
  path: `${contractPath}/token`,
  body: jsonBody(contract.appTokenRequest),
  answers: { 200: contract.appTokenResponse },
  errors: ['invalid_scope', 'invalid_client', 'scope_not_allowed', 'scope_not_available', 'app_inactive'],
  details: {
    id: 'issueAppToken',
    summary: 'Exchange app credentials for a short-lived bearer token',
    description: 'For calls from server to server. There is no refresh token: ask again when it has expired.',
    tag: 'App tokens',
  },
  isHot: true,
  run: async (door, call, { body }) => {
    const issued = await issueForApp(door, call, body)
    return {
      accessToken: issued.accessToken,
      tokenType: 'Bearer',
      expiresIn: issued.expiresInSeconds,
      scope: issued.scope,
      environment: issued.environment,
    }
  },
})

export const identifyApp = endpoint({
  method: 'GET',
  path: `${contractPath}/me`,
  caller: bearer('appToken'),
  share: 'read',
  answers: { 200: contract.appIdentity },
  details: {
    id: 'identifyApp',
    summary: 'Identity of the calling app',
    description: 'Tells which app, environment and scopes a live app token stands for.',
    tag: 'App tokens',
  },
  isHot: true,
  run: (_, __, { caller }) => {
    const { app, clientId, environment, scope, expiresAt } = appOf(caller)
    return {
      appId: app.id,
      clientId,
      name: app.name,
      slug: app.slug,
      environment,
      status: 'active',
      scope,
      expiresAt: wireTime(expiresAt),
      createdAt: wireTime(app.createdAt),
    }
  },
})

import { Elysia } from 'elysia'
import { scopesFor, unionOf } from '../../domain/scope.ts'
import type { Door } from '../door.ts'
import { contractPath } from '../routes/paths.ts'
import {
  authorizationPath,
  introspectionPath,
  resourceMetadataPath,
  revocationPath,
  serverMetadataPath,
  tokenPath,
} from './paths.ts'

const scopes = unionOf([scopesFor('app'), scopesFor('user')])
const clientMethods = ['client_secret_basic', 'client_secret_post'] as const

/** RFC 8414 section 2, with RFC 9207 section 3 and RFC 9728 section 4. Only what works is listed. */
const serverMetadata = (issuer: string) => ({
  issuer,
  authorization_endpoint: issuer + authorizationPath,
  token_endpoint: issuer + tokenPath,
  revocation_endpoint: issuer + revocationPath,
  introspection_endpoint: issuer + introspectionPath,
  scopes_supported: scopes,
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
  token_endpoint_auth_methods_supported: clientMethods,
  revocation_endpoint_auth_methods_supported: clientMethods,
  introspection_endpoint_auth_methods_supported: clientMethods,
  code_challenge_methods_supported: ['S256'],
  authorization_response_iss_parameter_supported: true,
  protected_resources: [issuer + contractPath],
  service_documentation: `${issuer}/docs`,
})

/** RFC 9728 section 2: the endpoints of the contract, as one resource. */
const resourceMetadata = (issuer: string) => ({
  resource: issuer + contractPath,
  authorization_servers: [issuer],
  scopes_supported: scopes,
  bearer_methods_supported: ['header'],
  resource_documentation: `${issuer}/docs`,
})

/**
 * What a client discovers. The document of the resource is where its own path says and nowhere else: at the root it
 * would have to speak of a resource at the root (RFC 9728 section 3.3), and there is none.
 */
export const metadataRoutes = ({ platform }: Door) => {
  const server = document(serverMetadata(platform.publicUrl))
  const resource = document(resourceMetadata(platform.publicUrl))
  return new Elysia()
    .get(serverMetadataPath, async () => server())
    .get(resourceMetadataPath + contractPath, async () => resource())
}

const document = (content: object): (() => Response) => {
  const body = JSON.stringify(content)
  const headers = { 'content-type': 'application/json', 'cache-control': 'public, max-age=300' }
  return () => new Response(body, { headers })
}

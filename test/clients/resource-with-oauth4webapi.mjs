// A client that knows only the API and discovers its authorization server (RFC 9728 section 5).
import * as oauth from 'oauth4webapi'

const resourceUrl = new URL(process.env.RESOURCE ?? '')
const resource = await oauth
  .resourceDiscoveryRequest(resourceUrl)
  .then((response) => oauth.processResourceDiscoveryResponse(resourceUrl, response))

const issuer = new URL(resource.authorization_servers?.[0] ?? '')
const as = await oauth
  .discoveryRequest(issuer, { algorithm: 'oauth2' })
  .then((response) => oauth.processDiscoveryResponse(issuer, response))

console.log(JSON.stringify({ resource, as }))

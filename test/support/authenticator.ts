import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import type { PasskeyAnswer } from '../../src/operations/factors/passkeys.ts'

// An authenticator in software (WebAuthn level 2 section 6), for tests that need one without a browser.

const sha256 = (data: Uint8Array | string) => createHash('sha256').update(data).digest()
const base64url = (data: Uint8Array | string) => Buffer.from(data).toString('base64url')

type Place = { readonly origin: string; readonly rpId: string }
type Use = { readonly challenge: string; readonly place: Place; readonly verified?: boolean; readonly counts?: number }

const clientData = (type: string, { challenge, place: { origin } }: Use) =>
  Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }))

/** One credential on an authenticator that counts its uses. */
export const softAuthenticator = () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const credentialId = randomBytes(16)
  const id = base64url(credentialId)
  // COSE: kty EC2, alg ES256, crv P-256, x, y
  const head = Buffer.from('a5010203262001215820', 'hex')
  const key = Buffer.concat([
    head,
    Buffer.from(x, 'base64url'),
    Buffer.from('225820', 'hex'),
    Buffer.from(y, 'base64url'),
  ])
  let counter = 0

  const authenticatorData = ({ place: { rpId }, verified = true, counts = 1 }: Use, attested: Uint8Array | null) => {
    counter += counts
    const flags = 0x01 | (verified ? 0x04 : 0) | (attested === null ? 0 : 0x40)
    const count = Buffer.alloc(4)
    count.writeUInt32BE(counter)
    return Buffer.concat([sha256(rpId), Buffer.from([flags]), count, attested ?? Buffer.alloc(0)])
  }
  return {
    create: (use: Use) => {
      const length = Buffer.from([0, credentialId.length])
      const data = authenticatorData(use, Buffer.concat([Buffer.alloc(16), length, credentialId, key]))
      // CBOR: { fmt: "none", attStmt: {}, authData }
      const before = Buffer.from('a363666d74646e6f6e656761747453746d74a068617574684461746158', 'hex')
      const attestationObject = base64url(Buffer.concat([before, Buffer.from([data.length]), data]))
      const response = { clientDataJSON: base64url(clientData('webauthn.create', use)), attestationObject }
      return { id, rawId: id, type: 'public-key', response, clientExtensionResults: {} } as const
    },
    get: (use: Use): PasskeyAnswer['response'] => {
      const data = authenticatorData(use, null)
      const client = clientData('webauthn.get', use)
      const signature = sign('sha256', Buffer.concat([data, sha256(client)]), privateKey)
      const response = {
        clientDataJSON: base64url(client),
        authenticatorData: base64url(data),
        signature: base64url(signature),
      }
      return { id, rawId: id, type: 'public-key', response, clientExtensionResults: {} }
    },
  }
}

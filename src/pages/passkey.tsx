import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { ComponentChildren } from 'preact'
import { badInput } from '../operations/decide.ts'
import type { NewPasskey, PasskeyAnswer, ReadChallenge } from '../operations/factors/passkeys.ts'
import { passkeyScript } from './assets.ts'
import { Form, type FormVisit } from './design/form.tsx'
import { seal, type SealedFor, unseal } from './sealed.ts'

// Passkeys need a script: it asks the browser and puts the answer into a form. Without one the form stays hidden. A challenge is
// a time that only this server can have sealed, for this browser and this place, so nothing is stored for pages that are left.

/** How long a page may stay open. Then the next try gets a new challenge. */
const lifetimeSeconds = 900

const challengeFor = (whom: SealedFor): SealedFor => ({ ...whom, place: `passkey ${whom.place}` })

export const newChallenge = (whom: SealedFor): string => seal(challengeFor(whom))

export const challengeReader =
  (whom: SealedFor): ReadChallenge =>
  (challenge) =>
    unseal(challengeFor(whom), challenge, lifetimeSeconds)?.at ?? null

/** The longest answer of a browser that is read. An attestation is not asked for, so answers have about 2,000 characters. */
const longest = 20_000

const shared = { id: Type.String(), rawId: Type.String(), type: Type.Literal('public-key') }
const registration = Type.Object({
  ...shared,
  response: Type.Object({ clientDataJSON: Type.String(), attestationObject: Type.String() }),
})
const assertion = Type.Object({
  ...shared,
  response: Type.Object({
    clientDataJSON: Type.String(),
    authenticatorData: Type.String(),
    signature: Type.String(),
  }),
})

const parse = (text: string): unknown => {
  try {
    return text.length <= longest ? JSON.parse(text) : null
  } catch {
    return null
  }
}

/** @throws invalid_request for what no browser answers */
export const registrationIn = (text: string): NewPasskey['response'] => {
  const found = parse(text)
  if (!Value.Check(registration, found)) throw badInput('passkey', unreadable)
  const { clientDataJSON, attestationObject } = found.response
  const { id, rawId, type } = found
  return { id, rawId, type, response: { clientDataJSON, attestationObject }, clientExtensionResults: {} }
}

/** @throws invalid_request for what no browser answers */
export const assertionIn = (text: string): PasskeyAnswer['response'] => {
  const found = parse(text)
  if (!Value.Check(assertion, found)) throw badInput('passkey', unreadable)
  const { clientDataJSON, authenticatorData, signature } = found.response
  const { id, rawId, type } = found
  return { id, rawId, type, response: { clientDataJSON, authenticatorData, signature }, clientExtensionResults: {} }
}

const unreadable = 'The browser has sent no passkey. Try again; without JavaScript, choose another way.'

type PasskeyFormProps = {
  readonly action: string
  readonly visit: FormVisit
  readonly hidden?: Readonly<Record<string, string>>
  readonly kind: 'create' | 'get'
  /** What the browser is asked. */
  readonly options: object
  readonly children: ComponentChildren
}

/** A form that the script sends with the answer of the browser. Hidden until the script finds that the browser can. */
export const PasskeyForm = ({ kind, options, children, hidden = {}, ...form }: PasskeyFormProps) => (
  <div data-passkey={kind} data-options={JSON.stringify(options)} hidden>
    <Form {...form} hidden={{ ...hidden, passkey: '' }}>
      <p class="problem" role="alert" hidden>
        The browser gave no passkey. Try again, or choose another way.
      </p>
      {children}
    </Form>
    <script src={passkeyScript.path} defer />
  </div>
)

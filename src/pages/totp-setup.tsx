import { Type } from '@sinclair/typebox'
import { encode } from 'uqr'
import { totpAddress, totpKeyBytes, totpKeyText } from '../domain/second-factor.ts'
import type { Door } from '../http/door.ts'
import { badInput } from '../operations/decide.ts'
import { Field } from './design/field.tsx'
import { Copyable, Details } from './design/values.tsx'
import { formOf, optionalText, secretText, textOf } from './form.ts'
import type { Values } from './kept-form.ts'
import { seal, type SealedFor, unseal } from './sealed.ts'

// Setting up an authenticator app. The new key is in the page, sealed for this browser and this user, and is stored only with the
// first right code. So nothing is stored for pages that are left, and each tab has a key of its own.

/** A code, and in a setup the key that the page has shown and where to go then. Code and key are never kept. */
export const totpForm = formOf({ code: secretText, key: Type.Optional(secretText), return_to: optionalText })

/** For whom the page is. */
type SetupFor = { readonly door: Door; readonly secret: string; readonly userId: string }

const keyFor = ({ userId, ...whom }: SetupFor): SealedFor => ({ ...whom, place: `totp-key ${userId}` })

/** How long a page may stay open. */
const lifetimeSeconds = 3_600

/** The key that the page has shown; null if the page was open for too long, or is another browser's. */
const keyIn = (whom: SetupFor, sealed: string): Uint8Array | null =>
  unseal(keyFor(whom), sealed, lifetimeSeconds)?.content ?? null

/** @throws invalid_request without such a key */
export const openTotpKey = (whom: SetupFor, sealed = ''): Uint8Array => {
  const key = keyIn(whom, sealed)
  if (key === null) throw badInput('code', tooLate)
  return key
}

const tooLate = 'This page was open for too long. Scan the new code.'

type TotpFieldsProps = {
  readonly whom: SetupFor
  readonly email: string
  /** What the form sent, if it is shown again: the key stays the same. */
  readonly sent: Values
}

/** The QR code, the key as text, and the field for the first code. They stand in a form. */
export const TotpFields = ({ whom, email, sent }: TotpFieldsProps) => {
  const { platform } = whom.door
  const key = keyIn(whom, textOf(sent['key'])) ?? platform.random.bytes(totpKeyBytes)
  return (
    <>
      <p>Scan this code with an authenticator app or your password manager. Then enter the six digits that it shows.</p>
      <QrCode text={totpAddress(key, platform.platformName, email)} />
      <Details summary="Enter the key instead">
        <p>
          <Copyable id="totp-key" value={totpKeyText(key)} what="the key" />
        </p>
        <p>
          <a href={totpAddress(key, platform.platformName, email)}>Open the authenticator app on this device</a>
        </p>
        <p class="muted">Time-based, six digits, every 30 seconds (TOTP with SHA-1).</p>
      </Details>
      <input type="hidden" name="key" value={seal(keyFor(whom), key)} />
      <CodeField label="Code from the app" />
    </>
  )
}

type CodeFieldProps = { readonly label: string; readonly hint?: string }

/** The field for a code. Browsers and password managers can fill it in. */
export const CodeField = ({ label, hint }: CodeFieldProps) => (
  <Field
    label={label}
    name="code"
    {...(hint === undefined ? {} : { hint })}
    input={{ autocomplete: 'one-time-code', required: true, maxLength: 64, spellcheck: false }}
  />
)

/** Dark squares on white, in every colour scheme: scanners expect that. */
const QrCode = ({ text }: { readonly text: string }) => {
  const { data, size } = encode(text, { ecc: 'M', border: 4 })
  const squares = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label="QR code with the key">
      <rect width={size} height={size} fill="#fff" />
      <path d={squares.join('')} fill="#000" />
    </svg>
  )
}

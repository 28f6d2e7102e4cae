import type { PlatformError } from '../../../domain/errors.ts'
import { type WebhookKind, webhookKinds } from '../../../domain/webhook-event.ts'

/** What each kind tells, in the words of whoever chooses. */
const kindWords = {
  'install.created': 'Somebody asked for an install.',
  'install.approved': 'An install was approved and is active.',
  'install.rejected': 'An install was rejected.',
  'install.deactivated': 'An install is over.',
  'grant.created': 'A user consented.',
  'grant.scopes_changed': 'What was granted became more or less.',
  'grant.revoked': 'A user’s access was revoked.',
  'grant.reuse_detected': 'A spent code or token came back, and its grant has ended.',
  'version.submitted': 'A version waits for its review.',
  'version.approved': 'A version was approved.',
  'version.rejected': 'A version was rejected.',
  'version.withdrawn': 'A version was withdrawn before its review.',
  'version.activated': 'A version went live.',
  'version.superseded': 'A version is no longer live, for another one is.',
  'version.rolled_back': 'A version was rolled back to.',
  'credential.created': 'A client secret was made.',
  'credential.rotated': 'A client secret was rotated.',
  'credential.revoked': 'A client secret was revoked.',
  'app.suspended': 'The operator suspended the app.',
  'app.activated': 'The operator activated the app again.',
  'webhook.disabled': 'An endpoint was disabled.',
  'api_version.deprecated': 'A version of the API will be switched off.',
  ping: 'A test; it comes whether you choose it or not.',
} as const satisfies Record<WebhookKind, string>

type KindChoiceProps = { readonly chosen: readonly string[]; readonly error: PlatformError | null }

/** Every kind of event there is, to choose from. */
export const KindChoice = ({ chosen, error }: KindChoiceProps) => {
  const fault = error?.facts.param === 'kinds' ? error.message : null
  return (
    <fieldset class="scopes" aria-describedby={fault === null ? undefined : 'kinds-fault'}>
      <legend>Events that it is told</legend>
      {fault === null ? null : (
        <p id="kinds-fault" class="fault">
          {fault}
        </p>
      )}
      {webhookKinds.map((kind) => (
        <div class="scope" key={kind}>
          <input
            type="checkbox"
            id={`kind-${kind}`}
            name="kinds"
            value={kind}
            checked={chosen.includes(kind)}
            aria-describedby={`about-${kind}`}
          />
          <label for={`kind-${kind}`}>
            <code>{kind}</code>
          </label>
          <small id={`about-${kind}`}>{kindWords[kind]}</small>
        </div>
      ))}
    </fieldset>
  )
}

import type { PlatformError } from '../../../domain/errors.ts'
import type { EndpointDetail } from '../../../operations/webhooks/endpoints.ts'
import { webhookGraceHours } from '../../../operations/webhooks/secrets.ts'
import { Field, Form } from '../../components/form.tsx'
import { Time } from '../../components/values.tsx'
import type { OwnApp } from '../owner.ts'
import { appPath } from '../paths.ts'

/** A form of the endpoint's page that was refused, to be shown again with the reason. */
export type RefusedChange = {
  readonly form: 'rotate' | 'since'
  readonly value: string
  readonly error: PlatformError
}

type EndpointFormProps = OwnApp & { readonly endpoint: EndpointDetail; readonly refused: RefusedChange | null }

export const TestForm = ({ visit, app, endpoint }: Omit<EndpointFormProps, 'refused'>) => (
  <Form action={appPath(app.slug, 'webhooks', endpoint.id, 'ping')} visit={visit}>
    <p class="muted" id="about-ping">
      It is sent now and once, and the answer stands below.
    </p>
    <button type="submit" aria-describedby="about-ping">
      Send a ping
    </button>
  </Form>
)

export const ResendForms = ({ visit, app, endpoint, refused }: EndpointFormProps) => (
  <>
    <Form action={appPath(app.slug, 'webhooks', endpoint.id, 'resend-failed')} visit={visit}>
      <p class="muted" id="about-failed">
        Those that were given up after ten attempts, under the same IDs. Pings are not among them.
      </p>
      <button type="submit" class="secondary" aria-describedby="about-failed">
        Send all failed events again
      </button>
    </Form>
    <Form action={appPath(app.slug, 'webhooks', endpoint.id, 'resend-since')} visit={visit}>
      <Field
        label="Send again every event since"
        name="since"
        hint="A day such as 2026-08-01 or a day and a time such as 2026-08-01 14:30, in UTC; up to thirty days ago."
        error={refused?.form === 'since' ? refused.error : null}
        input={{ value: refused?.form === 'since' ? refused.value : '', required: true, autocomplete: 'off' }}
      />
      <button type="submit" class="secondary">
        Send them again
      </button>
    </Form>
  </>
)

export const RotateForm = ({ visit, app, endpoint, refused }: EndpointFormProps) => (
  <Form action={appPath(app.slug, 'webhooks', endpoint.id, 'rotate')} visit={visit}>
    {endpoint.oldSecretEndsAt === null ? null : (
      <p>
        Deliveries are signed with the old secret as well until <Time at={endpoint.oldSecretEndsAt} />.
      </p>
    )}
    <Field
      label="Hours that the old secret goes on signing"
      name="graceHours"
      hint={`0 to ${webhookGraceHours.maximum}. Until then each delivery has a signature of both, and you can change over at ease.`}
      error={refused?.form === 'rotate' ? refused.error : null}
      input={{
        type: 'number',
        value: refused?.form === 'rotate' ? refused.value : String(webhookGraceHours.default),
        min: 0,
        max: webhookGraceHours.maximum,
        required: true,
      }}
    />
    <button type="submit" class="secondary">
      Rotate the secret
    </button>
  </Form>
)

export const EndForms = ({ visit, app, endpoint }: Omit<EndpointFormProps, 'refused'>) => (
  <>
    {endpoint.status === 'enabled' ? (
      <Form action={appPath(app.slug, 'webhooks', endpoint.id, 'disable')} visit={visit}>
        <p class="muted" id="about-disable">
          Nothing is sent; what happens waits for up to thirty days.
        </p>
        <button type="submit" class="secondary" aria-describedby="about-disable">
          Disable
        </button>
      </Form>
    ) : (
      <Form action={appPath(app.slug, 'webhooks', endpoint.id, 'enable')} visit={visit}>
        <p class="muted" id="about-enable">
          What has waited is sent, the oldest first.
        </p>
        <button type="submit" aria-describedby="about-enable">
          Enable
        </button>
      </Form>
    )}
    <Form action={appPath(app.slug, 'webhooks', endpoint.id, 'remove')} visit={visit}>
      <p class="muted" id="about-remove">
        Its secrets are gone at once, and what waits for it is never sent.
      </p>
      <button type="submit" class="danger" aria-describedby="about-remove">
        Remove
      </button>
    </Form>
  </>
)

import type { Environment } from '../../../domain/app.ts'
import type { PlatformError } from '../../../domain/errors.ts'
import { Field, Form, Problem } from '../../components/form.tsx'
import { AppPage } from '../components/app-page.tsx'
import { EnvironmentBadge } from '../../components/badges.tsx'
import type { OwnApp } from '../owner.ts'
import { appPath } from '../paths.ts'
import { KindChoice } from './kind-choice.tsx'

export type NewEndpointValues = {
  readonly environment: Environment
  readonly url: string
  readonly kinds: readonly string[]
}
type NewEndpointPageProps = OwnApp & { readonly values: NewEndpointValues; readonly error: PlatformError | null }

export const NewEndpointPage = ({ visit, app, values, error }: NewEndpointPageProps) => (
  <AppPage visit={visit} app={app} tab="webhooks" title="Add a webhook endpoint">
    <Problem error={error} />
    <p>
      <EnvironmentBadge environment={values.environment} />
    </p>
    <Form action={appPath(app.slug, 'webhooks')} visit={visit}>
      <input type="hidden" name="environment" value={values.environment} />
      <Field
        label="URL"
        name="url"
        hint="HTTPS, on a host that everybody can reach: private and reserved addresses are not called."
        error={error}
        input={{
          value: values.url,
          placeholder: 'https://app.example/webhooks',
          required: true,
          maxLength: 2048,
          spellcheck: false,
        }}
      />
      <KindChoice chosen={values.kinds} error={error} />
      <button type="submit">Add the endpoint</button>
    </Form>
  </AppPage>
)

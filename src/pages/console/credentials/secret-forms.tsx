import { graceHours } from '../../../domain/credential.ts'
import type { Environment } from '../../../domain/app.ts'
import { Field, Form } from '../../components/form.tsx'
import type { OwnApp } from '../owner.ts'
import { appPath } from '../paths.ts'
import type { RefusedSecret } from './credentials-page.tsx'

type SecretFormProps = OwnApp & { readonly environment: Environment; readonly refused: RefusedSecret | null }

export const CreateSecret = ({ visit, app, environment, refused }: SecretFormProps) => {
  const again = refused?.form === 'create' ? refused : null
  return (
    <Form action={appPath(app.slug, 'credentials')} visit={visit}>
      <input type="hidden" name="environment" value={environment} />
      <Field
        id={`label-${environment}`}
        label={`Label of a new ${environment} secret`}
        name="label"
        hint="Where it will live, so that you know it again. You may leave it empty."
        error={again?.error ?? null}
        input={{ value: again?.value ?? '', maxLength: 200, autocomplete: 'off' }}
      />
      <button type="submit">Create a {environment} secret</button>
    </Form>
  )
}

export const RotateSecret = ({ visit, app, environment, refused }: SecretFormProps) => {
  const again = refused?.form === 'rotate' ? refused : null
  return (
    <Form action={appPath(app.slug, 'credentials', 'rotate')} visit={visit}>
      <input type="hidden" name="environment" value={environment} />
      <Field
        id={`grace-${environment}`}
        label={`Hours that the old ${environment} secret goes on working`}
        name="graceHours"
        hint={`0 to ${graceHours.maximum}. With 0 it ends at once; else both work until you have put the new one in place.`}
        error={again?.error ?? null}
        input={{
          type: 'number',
          value: again?.value ?? String(graceHours.default),
          min: 0,
          max: graceHours.maximum,
          required: true,
        }}
      />
      <button type="submit" class="secondary">
        Rotate the {environment} secret
      </button>
    </Form>
  )
}

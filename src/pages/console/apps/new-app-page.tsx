import type { PlatformError } from '../../../domain/errors.ts'
import { Field, Form, Problem } from '../../components/form.tsx'
import { Layout } from '../../layout.tsx'
import type { Visit } from '../../visit.ts'
import { ScopeChoice } from '../components/scope-choice.tsx'
import { consolePath, newAppPath } from '../paths.ts'

export type NewAppValues = { readonly name: string; readonly slug: string; readonly scopes: readonly string[] }
type NewAppPageProps = {
  readonly visit: Visit
  readonly values: NewAppValues
  readonly error: PlatformError | null
}

export const NewAppPage = ({ visit, values, error }: NewAppPageProps) => (
  <Layout
    title="Create an app"
    belongsTo="Console"
    visit={visit}
    section="console"
    above={
      <p class="crumbs">
        <a href={consolePath}>Your apps</a>
      </p>
    }
  >
    <div class="console">
      <Problem error={error} />
      <Form action={newAppPath} visit={visit}>
        <Field
          label="Name"
          name="name"
          hint="What people read when they are asked for their consent. You can change it later."
          error={error}
          input={{ value: values.name, required: true, maxLength: 200 }}
        />
        <Field
          label="Slug"
          name="slug"
          hint="A short name for addresses and commands: 1 to 63 of a-z, 0-9 and inner hyphens. It cannot be changed."
          error={error}
          input={{ value: values.slug, required: true, maxLength: 63, spellcheck: false }}
        />
        <ScopeChoice chosen={values.scopes} error={error} />
        <p class="muted">Choose what you need now; you can add and withdraw scopes later.</p>
        <button type="submit">Create the app</button>
      </Form>
    </div>
  </Layout>
)

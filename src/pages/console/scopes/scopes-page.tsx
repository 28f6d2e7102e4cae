import type { PlatformError } from '../../../domain/errors.ts'
import { Form, Problem } from '../../components/form.tsx'
import { AppPage } from '../components/app-page.tsx'
import { ScopeChoice } from '../components/scope-choice.tsx'
import type { OwnApp } from '../owner.ts'
import { appPath } from '../paths.ts'

type ScopesPageProps = OwnApp & {
  readonly chosen: readonly string[]
  readonly notice: string | null
  readonly error: PlatformError | null
}

export const ScopesPage = ({ visit, app, chosen, notice, error }: ScopesPageProps) => (
  <AppPage visit={visit} app={app} tab="scopes" title="Scopes" notice={notice}>
    <Problem error={error} />
    <Form action={appPath(app.slug, 'scopes')} visit={visit}>
      <ScopeChoice chosen={chosen} error={error} />
      <button type="submit">Save the scopes</button>
    </Form>
    <WhatChanges />
  </AppPage>
)

/** True of the operations as they are; a test holds them to it. */
const WhatChanges = () => (
  <>
    <h2>What a change does</h2>
    <dl>
      <dt>When you add a scope</dt>
      <dd>
        Your app may ask for it from now on. Nobody has given it yet: each user is asked again, with the new scope
        marked.
      </dd>
      <dt>When you withdraw one</dt>
      <dd>
        From now on no app token, no consent and no new version can ask for it. Whoever has it keeps it: an app token
        until it expires, at most an hour; a user’s access, also when it is refreshed, until the user takes it back,
        your app revokes it or it runs out unused.
      </dd>
      <dt>Versions</dt>
      <dd>Keep the scopes that they were uploaded with.</dd>
    </dl>
  </>
)

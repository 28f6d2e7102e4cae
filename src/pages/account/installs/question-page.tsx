import type { PlatformError } from '../../../domain/errors.ts'
import type { InstallApprovalRule } from '../../../domain/install.ts'
import { formatScope } from '../../../domain/scope.ts'
import type { InstallQuestion } from '../../../operations/installs/create-install.ts'
import { Badge } from '../../components/badge.tsx'
import { Form } from '../../components/form.tsx'
import { Older } from '../../components/older.tsx'
import { Problem } from '../../components/problem.tsx'
import { Layout } from '../../layout.tsx'
import { resourceKindInSentence } from '../../resource-kind-words.ts'
import type { Visit } from '../../visit.ts'
import { installPath, installsPath } from './paths.ts'
import { ScopeList } from './scope-list.tsx'

type QuestionPageProps = {
  readonly visit: Visit
  readonly question: InstallQuestion
  /** The address that offers the websites and stores after these; null when these are the last. */
  readonly more: string | null
  readonly approval: InstallApprovalRule
  readonly error: PlatformError | null
}

/** All that an owner needs to know before an app is installed. The app's name stands in a sentence of ours. */
export const QuestionPage = ({ visit, question, more, approval, error }: QuestionPageProps) => {
  const { app, environment } = question
  return (
    <Layout title="Install this app?" visit={visit} section="account" width="narrow">
      <Problem error={error} />
      <article class="asker">
        <p>
          <strong>
            <bdi>{app.name}</bdi>
          </strong>
        </p>
        <p class="muted">
          Published by <bdi>{app.publisher}</bdi>, version <code>{app.version}</code>
        </p>
        {environment === 'development' ? (
          <p>
            <Badge tone="waiting">Test of your own app: its development head, which nobody has reviewed</Badge>
          </p>
        ) : null}
      </article>
      <h2>It may</h2>
      <ScopeList scopes={app.scopes} />
      <h2>Good to know</h2>
      <ul>
        <li>
          {approval === 'manual'
            ? 'The install waits until an operator approves it. Until then the app can do nothing.'
            : 'The app can work at once.'}
        </li>
        <li>Should a later version want to do more, you are asked again, and until you agree nothing changes.</li>
        <li>
          You can end it at any time, under <a href={installsPath}>Installs</a> in your account.
        </li>
      </ul>
      <Place visit={visit} question={question} error={error} />
      <Older href={more} name="More websites and stores" />
    </Layout>
  )
}

type PlaceProps = Pick<QuestionPageProps, 'visit' | 'question' | 'error'>

const Place = ({ visit, question: { app, environment, places }, error }: PlaceProps) => {
  if (places.data.length === 0) return <p>You have no website and no store yet, so there is nowhere to install it.</p>
  const scopes = formatScope(app.scopes)
  const isAtFault = error?.facts.param === 'resource'
  return (
    <Form action={installPath(app.slug, environment)} visit={visit} bound={[scopes]}>
      <input type="hidden" name="scopes" value={scopes} />
      <div class="field">
        <label for="place">Install it on</label>
        <select id="place" name="place" aria-invalid={isAtFault ? 'true' : undefined}>
          {places.data.map(({ kind, slug, name }) => (
            <option key={`${kind} ${slug}`} value={`${kind} ${slug}`}>
              {`${name} (${resourceKindInSentence[kind]} ${slug})`}
            </option>
          ))}
        </select>
      </div>
      <button type="submit">Agree and install</button>
    </Form>
  )
}

import { scopeCatalogue } from '../../../domain/scope.ts'
import type { DescribedInstall } from '../../../operations/installs/lists.ts'
import { Time } from '../../components/values.tsx'
import { resourceKindWords } from '../../words.ts'
import type { Visit } from '../../visit.ts'
import { appPath } from '../paths.ts'
import { StepForms } from './install-steps.tsx'

type InstallCardProps = { readonly visit: Visit; readonly install: DescribedInstall }

/** An install that waits, with what has to be known to decide on it. */
export const InstallCard = ({ visit, install }: InstallCardProps) => (
  <article>
    <h3>
      <bdi>{install.appName}</bdi>
    </h3>
    <dl>
      <dt>App</dt>
      <dd>
        <a href={appPath(install.app)}>
          <code>{install.app}</code>
        </a>
      </dd>
      <dt>User</dt>
      <dd>{install.user}</dd>
      <dt>{resourceKindWords[install.kind]}</dt>
      <dd>
        <code>{install.resource}</code>
      </dd>
      <dt>It may</dt>
      <dd>{scopesInWords(install)}</dd>
      {install.environment === 'development' ? (
        <>
          <dt>Version</dt>
          <dd>The development head, for its own developer</dd>
        </>
      ) : null}
      <dt>Asked for</dt>
      <dd>
        <Time at={install.createdAt} />
      </dd>
    </dl>
    <StepForms visit={visit} install={install} />
  </article>
)

const scopesInWords = ({ scopes }: DescribedInstall): string =>
  scopes.length === 0 ? 'Nothing beyond knowing an ID' : scopes.map((name) => scopeCatalogue[name].words).join(' · ')

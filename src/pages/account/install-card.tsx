import { endingStep } from '../../domain/install.ts'
import { formatScope, isSubset } from '../../domain/scope.ts'
import type { OwnInstall } from '../../operations/installs/lists.ts'
import { approvalWords, Badge, StateBadge } from '../design/badge.tsx'
import { Form } from '../design/field.tsx'
import { ScopeList } from '../design/scopes.tsx'
import { Facts, Time } from '../design/values.tsx'
import type { Visit } from '../visit.ts'
import { resourceKindInSentence } from '../words.ts'
import { agreePath, endInstallPath, openInstallPath } from './account-page.tsx'

type InstallCardProps = { readonly visit: Visit; readonly install: OwnInstall }

/** One install: its place, its permissions, its status, and what its owner can do with it. */
export const InstallCard = ({ visit, install }: InstallCardProps) => (
  <article>
    <h3>
      <bdi>{install.appName}</bdi>
    </h3>
    <States install={install} />
    <p>It may:</p>
    <ScopeList scopes={install.scopes} />
    <Facts
      of={{
        [`On your ${resourceKindInSentence(install.kind)}`]: (
          <>
            <bdi>{install.resourceName}</bdi> (<code>{install.resource}</code>)
          </>
        ),
        'Published by': <bdi>{install.publisher}</bdi>,
        Since: <Time at={install.createdAt} />,
      }}
    />
    <NewScopes visit={visit} install={install} />
    <Actions install={install} />
  </article>
)

const States = ({ install }: { readonly install: OwnInstall }) => (
  <p class="beside">
    <StateBadge of={approvalWords[install.approval]} />{' '}
    <Badge tone={install.state === 'active' ? 'good' : 'plain'}>
      {install.state === 'active' ? 'Active' : 'Inactive'}
    </Badge>{' '}
    {install.environment === 'development' ? <Badge tone="waiting">Test of your own app</Badge> : null}{' '}
    {install.appStatus === 'suspended' ? <Badge tone="bad">App suspended</Badge> : null}
  </p>
)

/** A newer version asks for more scopes. Until the owner agrees, the install keeps the scopes it has. */
const NewScopes = ({ visit, install }: InstallCardProps) => {
  const { asked, scopes } = install
  if (asked === null || isSubset(asked, scopes) || endingStep(install) === null) return null
  return (
    <section aria-label={`What ${install.appName} asks for now`}>
      <p>
        <strong>It asks for more now.</strong> It keeps its present permissions and gets new ones only if you agree to
        all of these:
      </p>
      <ScopeList scopes={asked} agreed={scopes} />
      <Form action={agreePath(install.id)} visit={visit} bound={[formatScope(asked)]}>
        <input type="hidden" name="scopes" value={formatScope(asked)} />
        <button type="submit" class="small">
          Agree
          <span class="unseen">
            {' to what '}
            <bdi>{install.appName}</bdi> asks for
          </span>
        </button>
      </Form>
    </section>
  )
}

const Actions = ({ install }: Pick<InstallCardProps, 'install'>) => {
  const step = endingStep(install)
  if (step === null) return null
  const named = (
    <span class="unseen">
      {': '}
      <bdi>{install.appName}</bdi> on <code>{install.resource}</code>
    </span>
  )
  return (
    <div class="beside">
      {step === 'deactivate' && install.appStatus === 'active' ? (
        <a class="button small" href={openInstallPath(install.id)}>
          Open{named}
        </a>
      ) : null}
      <a class="button outline secondary small" href={endInstallPath(install.id)}>
        {step === 'deactivate' ? 'End this install' : 'Withdraw'}
        {named}
      </a>
    </div>
  )
}

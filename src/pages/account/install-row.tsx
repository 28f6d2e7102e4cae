import { endingStep, installPath } from '../../domain/install.ts'
import { formatScope, isSubset, type ScopeCatalogue } from '../../domain/scope.ts'
import type { OwnInstall } from '../../operations/installs/lists.ts'
import { Avatar } from '../design/avatar.tsx'
import { Badge, InstallStatusBadge } from '../design/badge.tsx'
import { Form } from '../design/form.tsx'
import { Row } from '../design/row-list.tsx'
import { ScopeList } from '../design/scopes.tsx'
import { Time } from '../design/values.tsx'
import { StepButton } from '../step.tsx'
import type { Visit } from '../visit.ts'
import { resourceKindInSentence, resourceKindWords } from '../words.ts'
import { agreePath, connectedAppPath } from './account-page.tsx'
import { canOpen, NamedInstall, OpenButton } from '../open-button.tsx'
import { uninstall } from './steps.tsx'

type InstallRowProps = {
  readonly visit: Visit
  readonly catalogue: ScopeCatalogue
  readonly install: OwnInstall
  /** The client ID with which the app can act for the person; null if it cannot. */
  readonly connectedAs?: string | null
}

/** One install: its place, its permissions, its status, and what its owner can do with it. */
export const InstallRow = ({ visit, catalogue, install, connectedAs = null }: InstallRowProps) => (
  <Row
    avatar={<Avatar id={install.appId} name={install.appName} icon={install.icon} />}
    title={<bdi>{install.appName}</bdi>}
    badge={<States install={install} />}
    facts={[
      <>
        {resourceKindWords[install.kind]} <bdi>{install.resourceName}</bdi> (<code>{install.resource}</code>)
      </>,
      <>
        Published by <bdi>{install.publisher}</bdi>
      </>,
      <>
        Since <Time at={install.createdAt} />
      </>,
      connectedAs === null ? null : <a href={connectedAppPath(connectedAs)}>Connected to your account</a>,
    ]}
    actions={<Actions visit={visit} install={install} />}
  >
    <ScopeList catalogue={catalogue} class="inline" scopes={install.scopes} />
    <NewScopes visit={visit} catalogue={catalogue} install={install} />
  </Row>
)

const States = ({ install }: { readonly install: OwnInstall }) => (
  <>
    <InstallStatusBadge install={install} />{' '}
    {install.environment === 'development' ? <Badge tone="waiting">Test of your own app</Badge> : null}{' '}
    {install.appStatus === 'suspended' ? <Badge tone="bad">App suspended</Badge> : null}
  </>
)

/** A newer version asks for more scopes. Until the owner agrees, the install keeps the scopes it has. */
const NewScopes = ({ visit, catalogue, install }: InstallRowProps) => {
  const { asked, scopes } = install
  if (asked === null || isSubset(asked, scopes) || endingStep(install) === null) return null
  return (
    <section
      class="asks-more"
      aria-label={`What ${install.appName} on the ${resourceKindInSentence(install.kind)} ${install.resource} asks for now`}
    >
      <p>
        <strong>This app asks for more.</strong> It keeps its current permissions, and gets the new ones only if you
        agree:
      </p>
      <ScopeList catalogue={catalogue} scopes={asked} agreed={scopes} />
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

/** The way to install an app again that was removed. */
const Again = ({ install: { app, appName, appStatus, environment } }: Pick<InstallRowProps, 'install'>) =>
  appStatus === 'suspended' ? null : (
    <a class="button small" href={installPath(app, environment)}>
      Install again
      <span class="unseen">
        {': '}
        <bdi>{appName}</bdi>
      </span>
    </a>
  )

const Actions = ({ visit, install }: Pick<InstallRowProps, 'visit' | 'install'>) =>
  endingStep(install) === null ? (
    <Again install={install} />
  ) : (
    <>
      {canOpen(install) ? <OpenButton install={install} /> : null}
      <StepButton visit={visit} step={uninstall} of={install} params={{ id: install.id }} look="small">
        <NamedInstall install={install} />
      </StepButton>
    </>
  )

import { endingStep } from '../domain/install.ts'
import type { OwnInstall } from '../operations/installs/lists.ts'
import { SmallLink } from './design/form.tsx'

/** The page of an install that shows the app in a frame. Its type is the path itself, from which Elysia infers the parameters of a route. */
export const openInstallPath = <Id extends string>(id: Id) => `/installs/${id}/open` as const

/** Whether an install is in use and its app has a page that can be opened here. */
export const canOpen = (install: OwnInstall): boolean =>
  endingStep(install) === 'deactivate' && install.appStatus === 'active' && install.isFramed

type OfInstall = { readonly install: OwnInstall }

/** The way into the page of the app. */
export const OpenButton = ({ install }: OfInstall) => (
  <SmallLink href={openInstallPath(install.id)}>
    Open
    <span class="unseen">
      <NamedInstall install={install} />
    </span>
  </SmallLink>
)

/** What tells apart buttons with the same words. */
export const NamedInstall = ({ install: { appName, resource } }: OfInstall) => (
  <>
    {': '}
    <bdi>{appName}</bdi> on <code>{resource}</code>
  </>
)

import { listedAppPath } from '../../domain/install.ts'
import { takeShare } from '../../http/limits.ts'
import { issueInstallSessionCode, type OpenedApp } from '../../operations/embedding/embedding.ts'
import { embedScript } from '../assets.ts'
import { emptyForm, receive } from '../form.ts'
import { Layout } from '../design/shell.tsx'
import { SmallLink } from '../design/form.tsx'
import { doing } from '../proof.ts'
import { demoAppPath } from '../demo-callback.tsx'
import { page } from '../page.ts'
import type { Visit } from '../visit.ts'
import { resourceKindInSentence } from '../words.ts'
import { accountPaths, installCodePath } from './account-page.tsx'
import { openInstallPath } from '../open-button.tsx'
import { pageFor, routes } from '../change.tsx'

/** An installed app in a frame, which can ask for a new code while it is open. */
export const openAppRoutes = routes(() => [
  pageFor('user', openInstallPath(':id'), async (visit, { id }) => {
    takeShare(visit.door, visit.call, 'authorize', visit.userId)
    const opened = await open(visit, id)
    // The apps of the demo have no server, and so no page of their own. Theirs has no script and no form.
    const demo = visit.door.servesDemo && opened.embed.origin.endsWith('.example') ? demoAppPath(opened.slug) : null
    return page(
      <Layout
        title={opened.name}
        crumbs={[{ href: accountPaths.installs, name: 'Installs' }]}
        avatarId={opened.appId}
        icon={opened.icon}
        actions={<SmallLink href={openInstallPath(id)}>Reload the app</SmallLink>}
        about={
          <>
            On your {resourceKindInSentence(opened.place.kind)} <code>{opened.place.slug}</code>
          </>
        }
        visit={visit}
        section="apps"
      >
        <p id="ended" class="problem" role="alert" hidden>
          The app cannot continue. Reload it, or check your installs.
        </p>
        <iframe
          class="app"
          title="The app"
          src={demo ?? framedUrl(opened, visit.door.platform.publicUrl)}
          data-origin={opened.embed.origin}
          sandbox={demo === null ? sandbox : ''}
          allow=""
          referrerpolicy="no-referrer"
        />
        <p class="muted">
          Nothing here? The app at <bdi>{new URL(opened.embed.url).host}</bdi> does not answer, or does not let this
          page show it. Reload it, or <a href={listedAppPath(opened.slug)}>see how to reach its support</a>.
        </p>
        <form method="post" action={installCodePath(id)} data-renew hidden>
          <input type="hidden" name="ticket" value={visit.tickets.issue(installCodePath(id))} />
        </form>
        <script src={embedScript.path} defer />
      </Layout>,
      { framed: demo === null ? opened.embed.origin : "'self'" },
    )
  }),
  (app, door) =>
    app.post(
      installCodePath(':id'),
      async ({ request, params: { id } }) => {
        const asked = { by: 'user', effect: 'decides for oneself', shareOf: { installId: id } } as const
        const { visit } = await receive(door, request, emptyForm, asked)
        const { code, expiresInSeconds } = await open(visit, id)
        return Response.json({ code, expiresIn: expiresInSeconds })
      },
      doing('decides for oneself'),
    ),
])

/** Issues one code, within a limit: a page that asks in a loop must not fill the database. */
const open = async (visit: Visit, installId: string): Promise<OpenedApp> => {
  const opened = await visit.asOwner().do(issueInstallSessionCode, installId)
  visit.door.platform.observe.issued('install_session_code')
  return opened
}

/**
 * The frame may run scripts, send forms and keep its own origin. Without an origin its calls would come from `null`, which any
 * page can use. The origin is never ours, so the app cannot reach out of the frame. It may not navigate this page, open
 * windows or dialogs, start downloads, or use device features.
 */
const sandbox = 'allow-scripts allow-forms allow-same-origin'

/** The code is in the fragment, which is never sent to the app's server or in a referrer (RFC 3986 section 3.5). */
const framedUrl = ({ embed, code }: OpenedApp, publicUrl: string): string =>
  `${embed.url}#${new URLSearchParams({ code, builder: publicUrl }).toString()}`

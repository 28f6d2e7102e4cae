import type { OpenedApp } from '../../../operations/embedding/issue-install-session-code.ts'
import { embedScript } from '../../assets.ts'
import { Layout } from '../../layout.tsx'
import type { Visit } from '../../visit.ts'
import { codePath, installsPath, openPath } from './paths.ts'

type OpenPageProps = {
  readonly visit: Visit
  readonly installId: string
  readonly opened: OpenedApp
  /** Our own origin, which the page in the frame calls and hears from. */
  readonly publicUrl: string
}

/**
 * The frame may run scripts, send forms and keep its own origin, without which its calls would come from `null` and could be
 * anybody's; since that origin is never ours, it cannot reach out of the frame. It may not move this page, open windows or
 * dialogs, start downloads, nor use anything of the device.
 */
const sandbox = 'allow-scripts allow-forms allow-same-origin'

/** An installed app inside the builder. */
export const OpenPage = ({ visit, installId, opened, publicUrl }: OpenPageProps) => (
  <Layout title={opened.name} visit={visit} section="account">
    <p>
      <a href={installsPath}>All installs</a> · <a href={openPath(installId)}>Reload the app</a>
    </p>
    <p id="ended" class="problem" role="alert" hidden>
      The app could not go on. Reload it, or look at your installs.
    </p>
    <iframe
      class="app"
      title="The app"
      src={framedUrl(opened, publicUrl)}
      data-origin={opened.embed.origin}
      sandbox={sandbox}
      allow=""
      referrerpolicy="no-referrer"
    />
    <form method="post" action={codePath(installId)} data-renew hidden>
      <input type="hidden" name="ticket" value={visit.tickets.issue(codePath(installId))} />
    </form>
    <script src={embedScript.path} defer />
  </Layout>
)

/** The code stands in the fragment, which reaches neither the app's server and its log nor any referrer (RFC 3986 section 3.5). */
const framedUrl = ({ embed, code }: OpenedApp, publicUrl: string): string =>
  `${embed.url}#${new URLSearchParams({ code, builder: publicUrl }).toString()}`

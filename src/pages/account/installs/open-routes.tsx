import { Elysia } from 'elysia'
import type { Door } from '../../../http/door.ts'
import { takeShare } from '../../../http/limits.ts'
import { callOf } from '../../../http/call.ts'
import { actingAs } from '../../../operations/acting-as.ts'
import { issueInstallSessionCode, type OpenedApp } from '../../../operations/embedding/issue-install-session-code.ts'
import { formFields, forms } from '../../form.ts'
import { page } from '../../page.ts'
import { signedIn, visitOf } from '../../visit.ts'
import { OpenPage } from './open-page.tsx'
import { codePath, openPath } from './paths.ts'

/** An installed app in a frame, and a fresh code for it while it is open. */
export const openRoutes = (door: Door) =>
  new Elysia()
    .use(signedIn(door))
    .use(forms(door))
    .get(openPath(':id'), async ({ request, params: { id } }) => {
      const opened = await open(door, request, id)
      const { publicUrl } = door.platform
      return page(<OpenPage visit={visitOf(request)} installId={id} opened={opened} publicUrl={publicUrl} />, {
        framed: opened.embed.origin,
      })
    })
    .post(
      codePath(':id'),
      async ({ request, params: { id } }) => {
        const { code, expiresInSeconds } = await open(door, request, id)
        return Response.json({ code, expiresIn: expiresInSeconds }, { headers: { 'cache-control': 'no-store' } })
      },
      { body: formFields({}) },
    )

/** One code; the share of the user keeps a page that asks without end from filling the store. */
const open = async (door: Door, request: Request, installId: string): Promise<OpenedApp> => {
  const { session, trace } = visitOf(request)
  takeShare(door, callOf(request), 'authorize', session.user.id)
  const opened = await issueInstallSessionCode(actingAs(door.platform, trace, session), trace, session, installId)
  door.platform.observe.issued('install_session_code')
  return opened
}

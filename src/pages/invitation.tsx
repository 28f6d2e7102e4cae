import { Elysia } from 'elysia'
import type { PlatformError } from '../domain/errors.ts'
import { invitationPath } from '../domain/member.ts'
import type { Door } from '../http/door.ts'
import { acceptInvitation, openInvitation, type OpenInvitation } from '../operations/apps/members.ts'
import { Problem } from './design/field.tsx'
import { Form } from './design/form.tsx'
import { Layout } from './design/shell.tsx'
import { ChosenName } from './design/values.tsx'
import { answerForm, emptyForm, outcomeOf, receiveFromUser } from './form.ts'
import { page, seeOther } from './page.ts'
import { offerWords } from './words.ts'
import { requireVisit, type Visit } from './visit.ts'

const linkIn = ({ url }: Request): string | null => new URL(url).searchParams.get('link')

/** The page that an invitation to an app opens. Opening it changes nothing. */
export const invitationRoutes = (door: Door) =>
  new Elysia()
    .get(invitationPath, async ({ request }) => {
      const visit = await requireVisit(door, request)
      const link = linkIn(request)
      return link === null ? showDead(visit, null) : await show(visit, link, null)
    })
    .post(invitationPath, async ({ request }) => {
      const { visit } = await receiveFromUser(door, request, emptyForm, 'none')
      const link = linkIn(request) ?? ''
      // The link works once, so the form needs no ticket that is spent.
      return await answerForm(visit.asOwner().do(acceptInvitation, link), {
        done: ({ slug }) => seeOther(`/console/${slug}`),
        refused: async (error) => await show(visit, link, error),
      })
    })

/** The address of the page has the secret, so no other page may learn it. */
const show = async (visit: Visit, link: string, error: PlatformError | null): Promise<Response> => {
  const found = await outcomeOf(openInvitation(visit.door.platform, visit.call, visit.session, link))
  if (found.kind === 'refused') return showDead(visit, error ?? found.error)
  const { app, role, inviter } = found.value
  return page(
    <Layout title={`Join ${app.name}`} visit={visit} width="narrow">
      <Problem error={error} />
      <p>
        <bdi>{inviter.name}</bdi> (<bdi>{inviter.email}</bdi>) invites you to become {offerWords[role]} of{' '}
        <ChosenName name={app.name} />.
      </p>
      <p>{consequences[role]}</p>
      <p class="muted">
        You are signed in as <bdi>{visit.session.user.email}</bdi>.
      </p>
      <Form action={invitationPath} query={{ link }} visit={visit}>
        <div class="beside">
          <button type="submit" class="primary">
            {role === 'publisher' ? 'Take over the app' : 'Join'}
          </button>
          <a class="button" href="/">
            Not now
          </a>
        </div>
      </Form>
    </Layout>,
    { refusal: error, hidesAddress: true },
  )
}

const consequences = {
  owner: 'You can do everything with the app. Other members see your name and email address.',
  admin: 'You can change everything except ownership. Other members see your name and email address.',
  developer:
    'You can manage versions and development secrets of the app. Other members see your name and email address.',
  publisher: 'Users of the app see your name as its publisher, and the app counts towards your quota.',
} as const satisfies Record<OpenInvitation['role'], string>

const showDead = (visit: Visit, error: PlatformError | null): Response =>
  page(
    <Layout title="This invitation does not work" visit={visit} width="narrow">
      <p>
        {error?.code === 'right_missing'
          ? 'It is for a different email address than yours. Sign out, then sign in with the address that was invited.'
          : 'The link is incomplete, used, revoked or older than 24 hours, or the person who invited you can no longer do so.'}
      </p>
      <p>Nothing has changed. Ask the person who sent you the link for a new one.</p>
    </Layout>,
    { refusal: error, hidesAddress: true },
  )

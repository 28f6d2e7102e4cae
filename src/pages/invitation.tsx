import type { PlatformError } from '../domain/errors.ts'
import { invitationPath } from '../domain/member.ts'
import { secretIn } from '../domain/secret.ts'
import { acceptInvitation, openInvitation, type OpenInvitation } from '../operations/apps/members.ts'
import { Form, LinkButton, SendButton } from './design/form.tsx'
import { Layout, wordsPage } from './design/shell.tsx'
import { ChosenName } from './design/values.tsx'
import { emptyForm, outcomeOf } from './form.ts'
import { page, seeOther } from './page.ts'
import { offerWords } from './words.ts'
import { type Visit } from './visit.ts'
import { formPage, routes } from './change.tsx'

/** The page that an invitation to an app opens. Opening it changes nothing. */
export const invitationRoutes = routes(() => [
  formPage(invitationPath, {
    by: 'user',
    effect: 'decides for oneself',
    form: emptyForm,
    show,
    act: async ({ visit }) => {
      // The link works once, so the form needs no ticket that is spent.
      const { slug } = await visit.asOwner().do(acceptInvitation, linkIn(visit) ?? '')
      return seeOther(`/console/${slug}`)
    },
  }),
])

const linkIn = ({ call: { request } }: Visit): string | null => {
  const link = new URL(request.url).searchParams.get('link')
  return link === null ? null : secretIn('appInvitation', link)
}

/** The address of the page has the secret, so no other page may learn it. */
const show = async (visit: Visit): Promise<Response> => {
  const link = linkIn(visit)
  if (link === null) return showDead(visit, null)
  const found = await outcomeOf(openInvitation(visit.door.platform, visit.call, visit.session, link))
  if (found.kind === 'refused') return showDead(visit, visit.refused?.error ?? found.error)
  const { app, role, inviter } = found.value
  return page(
    <Layout title={`Join ${app.name}`} visit={visit} width="narrow">
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
          <SendButton>{role === 'publisher' ? 'Take over the app' : 'Join'}</SendButton>
          <LinkButton href="/">Not now</LinkButton>
        </div>
      </Form>
    </Layout>,
    { hidesAddress: true },
  )
}

const consequences = {
  owner: 'You can do everything with the app. Other members see your name and email address.',
  admin: 'You can change everything except ownership. Other members see your name and email address.',
  developer:
    'You can manage versions and development secrets of the app. Other members see your name and email address.',
  publisher: 'Users of the app see your name as its publisher, and the app counts towards your quota.',
} as const satisfies Record<OpenInvitation['role'], string>

const nothingToCorrect = { action: '', values: {}, error: null } as const

const showDead = (visit: Visit, error: PlatformError | null): Response =>
  wordsPage(
    { ...visit, refused: nothingToCorrect },
    {
      title: 'This invitation does not work',
      says: `${error?.message ?? 'The link is incomplete.'} Nothing has changed now: if you need another link, ask the person who sent you this one.`,
      to: ['/console', 'Developers'],
      options: { refusal: error, hidesAddress: true },
    },
  )

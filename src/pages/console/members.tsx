import { Elysia } from 'elysia'
import type { PlatformError } from '../../domain/errors.ts'
import { hasRight, type MemberRole, memberRoles, rightOverRole } from '../../domain/member.ts'
import type { Door } from '../../http/door.ts'
import { mayInActiveApp } from '../../operations/acting-as.ts'
import { inviteMember, listInvitations, type PendingInvitation } from '../../operations/apps/invitations.ts'
import { listMembers, type TeamMember } from '../../operations/apps/members.ts'
import { badInput } from '../../operations/decision.ts'
import { sentBefore } from '../confirmation.tsx'
import { Avatar } from '../design/avatar.tsx'
import { Badge } from '../design/badge.tsx'
import { Field, Form, Problem, SelectField } from '../design/field.tsx'
import { Count } from '../design/list-tools.tsx'
import { Row, RowList } from '../design/row-list.tsx'
import { Secret, Time } from '../design/values.tsx'
import { answerForm, asUser, formOf, receiveFromUser, text } from '../form.ts'
import { page } from '../page.ts'
import { showOnce, takeShown } from '../shown-once.ts'
import { offerWords } from '../words.ts'
import { consoleAppPath, type OwnApp, ownAppOf, OwnAppPage, requireOwnApp } from './own-app.tsx'

const notices = {
  removed: 'The person is not a member any more. Rotate the secrets that they may know.',
  changed: 'The role is changed.',
  revoked: 'The invitation is revoked. Its link does not work any more.',
} as const

/** What a role may do, for people. */
export const roleWords = {
  owner: ['Owner', 'everything, also delete the app, offer it to somebody else, and invite owners'],
  admin: ['Admin', 'also production secrets, webhooks, redirect URIs, scopes, the name, and members'],
  developer: ['Developer', 'versions, development secrets, and sending events again'],
} as const satisfies Record<MemberRole, readonly [name: string, about: string]>

const inviteForm = formOf({ email: text, role: text })
const pattern = '/console/:slug/members'

/** Who works on an app, and the form that invites somebody. */
export const memberRoutes = (door: Door) =>
  new Elysia()
    .get(pattern, async ({ request, params: { slug } }) => await show(await requireOwnApp(door, request, slug), null))
    .post(pattern, async ({ request, params: { slug } }) => await invite(door, request, slug))
    .get('/console/:slug/invitations/:id', async ({ request, params: { slug, id } }) => {
      const own = await requireOwnApp(door, request, slug)
      const { value, cookies } = takeShown(own.visit)
      const made = (await listInvitations(door.platform, own.app.id)).find((one) => one.id === id)
      return page(<LinkPage {...own} made={made ?? null} link={value} />, { cookies })
    })

/** Where the link of a new invitation is shown once. */
export const newInvitationPath = (slug: string, id: string): string => consoleAppPath(slug, 'invitations', id)

const invite = async (door: Door, request: Request, slug: string): Promise<Response> => {
  const { visit, fields, ticket } = await receiveFromUser(door, request, inviteForm)
  const { email } = fields
  const role = memberRoles.find((one) => one === fields.role)
  const own = await ownAppOf(visit, slug)
  if (role === undefined) return await show(own, { ...fields, error: badInput('role', 'Choose a role.') })
  const may = mayInActiveApp(visit.userId, slug, rightOverRole(role))
  const input = { slug, email, role, invitedBy: visit.userId }
  return await answerForm(inviteMember(...asUser(visit, may, ticket), input), {
    done: ({ id, link }) => showOnce(visit, newInvitationPath(slug, id), link),
    refused: async (error) => await show(own, { email, role, error }),
    sentBefore: () =>
      sentBefore({
        visit,
        message:
          'This form was sent before. Only the first answer showed the link: if you did not copy it, invite again.',
        href: consoleAppPath(slug, 'members'),
        name: 'See the members',
      }),
  })
}

/** An invitation that was refused, to be shown again with the reason. */
type RefusedInvitation = { readonly email: string; readonly role: string; readonly error: PlatformError }

const show = async ({ visit, app }: OwnApp, refused: RefusedInvitation | null): Promise<Response> => {
  const { platform } = visit.door
  const members = await listMembers(platform, app.slug)
  const invitations = await listInvitations(platform, app.id)
  const error = refused?.error ?? null
  return page(
    <OwnAppPage visit={visit} app={app} tab="members" title="Members" notices={notices}>
      <Problem error={error} />
      <p>
        Members see everything about this app in their own console. What they may change depends on their role. The
        publisher is the owner whose name users see.
      </p>
      <section aria-labelledby="people">
        <h2 id="people">
          People <Count of={members.length} />
        </h2>
        <RowList rows={members} row={(member) => <MemberRow visit={visit} app={app} member={member} />} />
      </section>
      <section aria-labelledby="invitations">
        <h2 id="invitations">
          Invitations <Count of={invitations.length} />
        </h2>
        <RowList
          rows={invitations}
          row={(invitation) => <InvitationRow app={app} invitation={invitation} />}
          empty="No invitation is open."
        />
      </section>
      {hasRight(app.role, 'members') ? (
        <section aria-labelledby="invite">
          <h2 id="invite">Invite somebody</h2>
          <InviteForm visit={visit} app={app} refused={refused} />
        </section>
      ) : (
        <p class="muted">Only admins and owners can invite people.</p>
      )}
      {hasRight(app.role, 'transfer') ? <Ownership app={app} /> : null}
    </OwnAppPage>,
    { refusal: error },
  )
}

const MemberRow = ({ visit, app, member }: OwnApp & { readonly member: TeamMember }) => {
  const { userId, name, email, status, role, isPublisher, since } = member
  const isSelf = userId === visit.userId
  const path = (step: string) => consoleAppPath(app.slug, 'members', userId, step)
  const mayChange = !isPublisher && hasRight(app.role, rightOverRole(role))
  return (
    <Row
      key={userId}
      avatar={<Avatar id={userId} name={name} />}
      title={<bdi>{name}</bdi>}
      badge={
        <>
          <Badge>{roleWords[role][0]}</Badge>
          {isPublisher ? (
            <>
              {' '}
              <Badge>Publisher</Badge>
            </>
          ) : null}
          {status === 'active' ? null : (
            <>
              {' '}
              <Badge tone="bad">Disabled</Badge>
            </>
          )}
        </>
      }
      facts={[<bdi>{email}</bdi>, isSelf ? 'This is you' : null]}
      time={since}
      actions={
        isPublisher || !(mayChange || isSelf) ? undefined : (
          <>
            {mayChange ? (
              <a class="button small" href={path('role')} aria-label={`Change role of ${name}`}>
                Change role
              </a>
            ) : null}
            {isSelf ? (
              <a class="button small" href={consoleAppPath(app.slug, 'leave')}>
                Leave
              </a>
            ) : (
              <a class="button small" href={path('remove')} aria-label={`Remove ${name}`}>
                Remove
              </a>
            )}
          </>
        )
      }
    />
  )
}

const InvitationRow = ({ app, invitation }: Pick<OwnApp, 'app'> & { readonly invitation: PendingInvitation }) => (
  <Row
    key={invitation.id}
    title={<bdi>{invitation.email}</bdi>}
    badge={<Badge tone="waiting">{invitation.role === 'publisher' ? 'Transfer' : roleWords[invitation.role][0]}</Badge>}
    facts={[
      <>
        Invited by <bdi>{invitation.invitedBy}</bdi>
      </>,
      <>
        Expires <Time at={invitation.expiresAt} />
      </>,
    ]}
    actions={
      hasRight(app.role, rightOverRole(invitation.role)) ? (
        <a
          class="button small"
          href={consoleAppPath(app.slug, 'invitations', invitation.id, 'revoke')}
          aria-label={`Revoke the invitation to ${invitation.email}`}
        >
          Revoke
        </a>
      ) : undefined
    }
  />
)

/** The roles that this member may give. */
export const rolesFor = ({ role: own }: OwnApp['app']) =>
  memberRoles
    .filter((role) => hasRight(own, rightOverRole(role)))
    .map((role) => [role, `${roleWords[role][0]}: ${roleWords[role][1]}`] as const)
    .toReversed()

const InviteForm = ({ visit, app, refused }: OwnApp & { readonly refused: RefusedInvitation | null }) => (
  <Form action={consoleAppPath(app.slug, 'members')} visit={visit} class="measure">
    <Field
      label="Email address"
      name="email"
      hint="Only the person who signs in with this address can accept."
      error={refused?.error ?? null}
      input={{ type: 'email', value: refused?.email ?? '', required: true, maxLength: 254, autocomplete: 'off' }}
    />
    <SelectField
      label="Role"
      name="role"
      options={rolesFor(app)}
      value={refused?.role ?? 'developer'}
      error={refused?.error ?? null}
    />
    <p class="muted">The next page shows a link for you to send. It works once, for 24 hours.</p>
    <button type="submit">Make the invitation</button>
  </Form>
)

const Ownership = ({ app }: Pick<OwnApp, 'app'>) => (
  <section aria-labelledby="ownership">
    <h2 id="ownership">Ownership</h2>
    <p class="beside">
      <a class="button" href={consoleAppPath(app.slug, 'transfer')}>
        Transfer the app
      </a>
      <a class="button" href={consoleAppPath(app.slug, 'delete')}>
        Delete the app
      </a>
    </p>
  </section>
)

type LinkPageProps = OwnApp & {
  /** Null when it has ended. */
  readonly made: PendingInvitation | null
  /** Null when it was shown before. */
  readonly link: string | null
}

/** The only page that shows the link of an invitation. */
const LinkPage = ({ visit, app, made, link }: LinkPageProps) => (
  <OwnAppPage visit={visit} app={app} tab="members" title="Invitation">
    {link === null || made === null ? (
      <p>
        There is no link to show. Each one is shown once, right after it was made. If you did not copy it, invite the
        person again.
      </p>
    ) : (
      <>
        <p>
          Send this link to <bdi>{made.email}</bdi>. Signed in with that address, the person can become{' '}
          {offerWords[made.role]} of <bdi>{app.name}</bdi>. The link works once, until <Time at={made.expiresAt} />.
        </p>
        <Secret label="Link" value={link} />
      </>
    )}
    <p>
      <a href={consoleAppPath(app.slug, 'members')}>
        {link === null ? 'Go to the members' : 'I have copied it: go to the members'}
      </a>
    </p>
  </OwnAppPage>
)

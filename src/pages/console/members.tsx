import { Elysia } from 'elysia'
import { hasRight, memberRoles, rightOverRole } from '../../domain/member.ts'
import type { Door } from '../../http/door.ts'
import { mayInActiveApp } from '../../operations/acting-as.ts'
import {
  inviteMember,
  listInvitations,
  type MadeInvitation,
  type PendingInvitation,
  listMembers,
  type TeamMember,
} from '../../operations/apps/members.ts'
import { badInput } from '../../operations/decide.ts'
import { formPage } from '../change.tsx'
import { Avatar } from '../design/avatar.tsx'
import { Badge, MemberBadges } from '../design/badge.tsx'
import { Choice, ChoiceSet, Field } from '../design/field.tsx'
import { Form } from '../design/form.tsx'
import { Count } from '../design/list-tools.tsx'
import { Row, RowList, StepLinks } from '../design/row-list.tsx'
import { ShownOnce, Time } from '../design/values.tsx'
import { formOf, text } from '../form.ts'
import { page } from '../page.ts'
import { proveFirst } from '../proof.ts'
import { choiceParameter } from '../query.ts'
import { showOnce, takeShown } from '../shown-once.ts'
import type { Visit } from '../visit.ts'
import { offerWords, roleWords } from '../words.ts'
import { consoleAppPath, type OwnApp, ownAppOf, OwnAppPage, requireOwnApp } from './own-app.tsx'
import { KeepsSecrets } from './secret-parts.tsx'

const noticesOf = (slug: string) => ({
  removed: (
    <>
      The member is removed. <KeepsSecrets slug={slug} />
    </>
  ),
  changed: 'The role is changed.',
  revoked: 'The invitation is revoked. Its link no longer works.',
})

const inviteForm = formOf({ email: text, role: text })
const pattern = '/console/:slug/members'

/** Who works on an app, and the form that invites somebody. */
export const memberRoutes = (door: Door) =>
  new Elysia()
    .use(
      formPage(door, pattern, {
        by: 'user',
        proof: 'asked',
        isPartOfPage: true,
        form: inviteForm,
        show,
        act: async ({ visit, fields, ticket }, { slug }) => {
          const role = memberRoles.find((one) => one === fields.role)
          if (role === undefined) throw badInput('role', 'Choose a role.')
          const may = mayInActiveApp(slug, rightOverRole(role))
          const input = { slug, email: fields.email, role, invitedBy: visit.userId }
          return showInvitation(visit, slug, await visit.as(may, ticket).do(inviteMember, input))
        },
        again: (_, { slug }) => ({
          message: invitedBefore,
          href: consoleAppPath(slug, 'members'),
          name: 'See the members',
        }),
      }),
    )
    .get('/console/:slug/invitations/:id', async ({ request, params: { slug, id } }) => {
      const own = await requireOwnApp(door, request, slug)
      const { value, cookies } = takeShown(own.visit)
      const made = (await listInvitations(door.platform, own.app.id)).find((one) => one.id === id)
      const isMailed = choiceParameter(request, 'mailed', ['yes'] as const) !== null
      return page(<LinkPage {...own} made={made ?? null} link={value} isMailed={isMailed} />, { cookies })
    })

/** Leads to the page that shows the link of a new invitation once. */
export const showInvitation = (visit: Visit, slug: string, { id, link, isMailed }: MadeInvitation): Response =>
  showOnce(visit, consoleAppPath(slug, 'invitations', id), link, isMailed ? { mailed: 'yes' } : {})

const invitedBefore =
  'This form was sent before. Only the first answer showed the link: if you did not copy it, invite the person again.'

const show = async (visit: Visit, { slug }: { readonly slug: string }): Promise<Response> => {
  const { app } = await ownAppOf(visit, slug)
  const { platform } = visit.door
  const members = await listMembers(platform, app.slug)
  const invitations = await listInvitations(platform, app.id)
  return page(
    <OwnAppPage visit={visit} app={app} tab="members" title="Members" notices={noticesOf(app.slug)}>
      <p>
        Members see this app in their own console. What they can change depends on their role. The publisher is the
        owner whose name users see.
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
          empty="No pending invitations."
        />
      </section>
      {hasRight(app.role, 'members') ? (
        <section aria-labelledby="invite">
          <h2 id="invite">Invite a member</h2>
          <InviteForm visit={visit} app={app} />
        </section>
      ) : (
        <p class="muted">Only admins and owners can invite people.</p>
      )}
      {hasRight(app.role, 'transfer') ? <Ownership app={app} /> : null}
    </OwnAppPage>,
  )
}

const MemberRow = ({ visit, app, member }: OwnApp & { readonly member: TeamMember }) => {
  const { userId, name, email, role, isPublisher, since } = member
  const isSelf = userId === visit.userId
  const path = (step: string) => consoleAppPath(app.slug, 'members', userId, step)
  const mayChange = !isPublisher && hasRight(app.role, rightOverRole(role))
  return (
    <Row
      key={userId}
      avatar={<Avatar id={userId} name={name} />}
      title={<bdi>{name}</bdi>}
      badge={<MemberBadges member={member} />}
      facts={[
        <bdi>{email}</bdi>,
        isSelf ? 'This is you' : null,
        <>
          Joined <Time at={since} />
        </>,
      ]}
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
    badge={<Badge>{invitation.role === 'publisher' ? 'Transfer' : roleWords[invitation.role][0]}</Badge>}
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
export const RoleChoices = ({ app, chosen }: Pick<OwnApp, 'app'> & { readonly chosen: string }) => (
  <ChoiceSet legend="Role" name="role">
    {memberRoles
      .filter((role) => hasRight(app.role, rightOverRole(role)))
      .toReversed()
      .map((role) => (
        <Choice key={role} type="radio" name="role" value={role} checked={role === chosen} about={roleWords[role][1]}>
          {roleWords[role][0]}
        </Choice>
      ))}
  </ChoiceSet>
)

const InviteForm = ({ visit, app }: OwnApp) => (
  <Form action={consoleAppPath(app.slug, 'members')} visit={visit} class="measure" asks={proveFirst(visit)}>
    <Field
      label="Email address"
      name="email"
      hint="Only somebody who signs in with this address can accept."
      input={{ type: 'email', required: true, maxLength: 254, autocomplete: 'off' }}
    />
    <RoleChoices app={app} chosen="developer" />
    <p class="muted">
      The next page shows a link to send to the person
      {visit.door.platform.mailer === null ? '' : ', and they also receive one by email'}. It works once, for 24 hours.
    </p>
    <button type="submit" class="primary">
      Create the invitation
    </button>
  </Form>
)

const Ownership = ({ app }: Pick<OwnApp, 'app'>) => (
  <section aria-labelledby="ownership">
    <h2 id="ownership">Ownership</h2>
    <StepLinks
      steps={[
        ['transfer', 'Transfer the app', 'Another person becomes its publisher. You stay an owner.'],
        ['delete', 'Delete the app', 'It disappears for all members and users at once.'],
      ]}
      pathOf={(step) => consoleAppPath(app.slug, step)}
    />
  </section>
)

type LinkPageProps = OwnApp & {
  /** Null when it has ended. */
  readonly made: PendingInvitation | null
  /** Null when it was shown before. */
  readonly link: string | null
  readonly isMailed: boolean
}

/** The only page that shows the link of an invitation. */
const LinkPage = ({ visit, app, made, link, isMailed }: LinkPageProps) => (
  <OwnAppPage visit={visit} app={app} tab="members" title="Invitation">
    <ShownOnce
      value={made === null ? null : link}
      what="link"
      label="Link"
      advice="invite the person again"
      back={{ href: consoleAppPath(app.slug, 'members'), name: 'the members' }}
    >
      {made === null ? null : (
        <p>
          Send this link to <bdi>{made.email}</bdi>. After signing in with that address, they can become{' '}
          {offerWords[made.role]} of <bdi>{app.name}</bdi>. The link works once, until <Time at={made.expiresAt} />.
        </p>
      )}
      {isMailed ? (
        <p>An email with another link is also on its way to them. Both links work until one of them is used.</p>
      ) : null}
    </ShownOnce>
  </OwnAppPage>
)

import { memberRoles, rightOverRole } from '../../domain/member.ts'
import { mayInActiveApp, mayInApp } from '../../operations/acting-as.ts'
import {
  addMember,
  changeMemberRole,
  inviteMember,
  listInvitations,
  listMembers,
  type MadeInvitation,
  mayChangeMember,
  mayRevokeInvitation,
  type PendingInvitation,
  removeMember,
  revokeInvitation,
  type TeamMember,
} from '../../operations/apps/members.ts'
import { formPage, routes } from '../change.tsx'
import { Avatar } from '../design/avatar.tsx'
import { Badge, MemberBadges } from '../design/badge.tsx'
import { ChoiceList, ChoiceSet, Field } from '../design/field.tsx'
import { Form, SendButton } from '../design/form.tsx'
import { Count } from '../design/list-tools.tsx'
import { Row, RowList } from '../design/row-list.tsx'
import { ChosenName, ShownOnce, Time, TimeFact } from '../design/values.tsx'
import { userPath } from '../desk/desk-page.tsx'
import { formOf, text } from '../form.ts'
import { page, seeOther } from '../page.ts'
import { proveFirst } from '../proof.ts'
import { choiceParameter } from '../query.ts'
import { secretPage, showOnce } from '../secret-page.tsx'
import { noticesOf, StepButton } from '../step.tsx'
import type { Visit } from '../visit.ts'
import { offerWords, roleWords } from '../words.ts'
import {
  acting,
  addressIn,
  appFor,
  AppPage,
  type AppPlace,
  type AppVisit,
  type AtApp,
  inConsole,
  pageOfApp,
  stepsBelow,
  stepsOfApp,
  consolePath,
  whyNot,
} from './app-area.tsx'
import { refuse } from '../../domain/errors.ts'
import { badInput } from '../../operations/decide.ts'
import { secretRotation } from './credentials.tsx'

/** Who works on an app, and the form that invites somebody. Operators add them without asking. */
export const memberRoutes = (place: AppPlace) =>
  formPage(place.pattern('members'), {
    by: place.by,
    effect: 'gives a right',
    isPartOfPage: true,
    form: formOf({ email: text, role: text }),
    show,
    act: async ({ visit, fields, ticket }, { slug }) => {
      const role = roleIn(fields)
      const person = acting(visit, mayInActiveApp(slug, rightOverRole(role)), ticket)
      if (place.as === 'operator') {
        await person.do(addMember, { slug, email: fields.email, role })
        return seeOther(`${place.path(slug, 'members')}?done=added`)
      }
      const input = { slug, email: fields.email, role, invitedBy: visit.userId }
      return showInvitation(visit, slug, await person.do(inviteMember, input))
    },
    again: (_, { slug }) => ({
      section: place.key,
      ...(place.as === 'member' && { message: invitedBefore }),
      href: place.path(slug, 'members'),
      name: 'See the members',
    }),
  })

/** The page that shows the link of an invitation once. */
export const invitationRoutesOfApp = routes(() => [
  pageOfApp(inConsole, 'invitations/:id', async (at, { id }) => {
    const { door, call } = at.visit
    const made = (await listInvitations(door.platform, at.app.id)).find((one) => one.id === id)
    const isMailed = choiceParameter(call.request, 'mailed', ['yes'] as const) !== null
    return secretPage(at.visit, (link) => <LinkPage at={at} made={made ?? null} link={link} isMailed={isMailed} />)
  }),
])

const invitedBefore =
  'This form was sent before. Only the first answer showed the link: if you did not copy it, invite the person again.'

const noticesAt = (at: AppVisit) => ({
  ...noticesOf(...memberSteps),
  added: 'The person is a member now.',
  removed: (
    <>
      {memberRemoval.done['removed']} <KeepsSecrets at={at} />
    </>
  ),
})

const show = async (visit: Visit, { slug }: { readonly slug: string }): Promise<Response> => {
  const at = await appFor(visit, slug)
  const { app } = at
  const { platform } = visit.door
  const members = await listMembers(platform, app.slug)
  const invitations = await listInvitations(platform, app.id)
  return page(
    <AppPage at={at} tab="members" title="Members" notices={noticesAt(at)}>
      <p>
        Members see this app under Developers. What they can change depends on their role. The publisher is the owner
        whose name users see.
      </p>
      <section aria-labelledby="people">
        <h2 id="people">
          People <Count of={members.length} />
        </h2>
        <RowList rows={members} row={(member) => <MemberRow at={at} member={member} />} />
      </section>
      <section aria-labelledby="invitations">
        <h2 id="invitations">
          Invitations <Count of={invitations.length} />
        </h2>
        <RowList
          rows={invitations}
          row={(invitation) => <InvitationRow at={at} invitation={invitation} />}
          empty="No pending invitations."
        />
      </section>
      {at.may('members') ? (
        <section aria-labelledby="invite">
          <h2 id="invite">{at.as === 'operator' ? 'Add' : 'Invite'} a member</h2>
          <InviteForm at={at} />
        </section>
      ) : (
        <p class="muted">Only admins and owners can invite people.</p>
      )}
    </AppPage>,
  )
}

const MemberRow = ({ at, member }: AtApp & { readonly member: TeamMember }) => {
  const { userId, name, email, since, isPublisher } = member
  const of = { at, member }
  const isOneself = isSelf(of)
  const steps = [roleChange, memberRemoval].filter((step) => step.isPossible(of, at.visit))
  return (
    <Row
      key={userId}
      {...(at.as === 'operator' && { href: userPath(userId) })}
      avatar={<Avatar id={userId} name={name} />}
      title={<bdi>{name}</bdi>}
      badge={<MemberBadges member={member} />}
      facts={[<bdi>{email}</bdi>, isOneself ? 'This is you' : null, <TimeFact words="Joined" at={since} />]}
      actions={
        isPublisher || (steps.length === 0 && !isOneself) ? undefined : (
          <>
            {steps.map((step) => (
              <StepButton
                visit={at.visit}
                step={step}
                of={of}
                params={{ slug: at.app.slug, id: userId }}
                look="small"
                label={step === roleChange ? `Change role of ${name}` : `Remove ${name}`}
              />
            ))}
            {isOneself ? (
              <StepButton visit={at.visit} step={leaving} of={at} params={{ slug: at.app.slug }} look="small" />
            ) : null}
          </>
        )
      }
    />
  )
}

const InvitationRow = ({ at, invitation }: AtApp & { readonly invitation: PendingInvitation }) => (
  <Row
    key={invitation.id}
    title={<bdi>{invitation.email}</bdi>}
    badge={<Badge>{invitation.role === 'publisher' ? 'Transfer' : roleWords[invitation.role][0]}</Badge>}
    facts={[
      <>
        Invited by <bdi>{invitation.invitedBy}</bdi>
      </>,
      <TimeFact words="Expires" at={invitation.expiresAt} />,
    ]}
    actions={
      invitationEnd.isPossible({ at, invitation }, at.visit) ? (
        <StepButton
          visit={at.visit}
          step={invitationEnd}
          of={{ at, invitation }}
          params={{ slug: at.app.slug, id: invitation.id }}
          look="small"
          label={`Revoke the invitation to ${invitation.email}`}
        />
      ) : undefined
    }
  />
)

const InviteForm = ({ at: { visit, as, path }, at }: AtApp) => (
  <Form action={path('members')} visit={visit} class="measure" asks={proveFirst(visit)}>
    <Field
      label="Email address"
      name="email"
      hint={as === 'operator' ? 'That of an active user.' : 'Only somebody who signs in with this address can accept.'}
      input={{ type: 'email', required: true, maxLength: 254, autocomplete: 'off' }}
    />
    <RoleChoices at={at} chosen="developer" />
    {as === 'operator' ? (
      <p class="muted">They become a member at once, without being asked.</p>
    ) : (
      <p class="muted">
        The next page shows a link to send to the person
        {visit.door.platform.mailer === null ? '' : ', and they also receive one by email'}. It works once, for 24
        hours.
      </p>
    )}
    <SendButton>{as === 'operator' ? 'Add the member' : 'Create the invitation'}</SendButton>
  </Form>
)

type LinkPageProps = AtApp & {
  /** Null when it has ended. */
  readonly made: PendingInvitation | null
  /** Null when it was shown before. */
  readonly link: string | null
  readonly isMailed: boolean
}

/** The only page that shows the link of an invitation. */
const LinkPage = ({ at, at: { app }, made, link, isMailed }: LinkPageProps) => (
  <AppPage at={at} tab="members" title="Invitation">
    <ShownOnce
      value={made === null ? null : link}
      what="link"
      label="Link"
      advice="invite the person again"
      back={{ href: at.path('members'), name: 'the members' }}
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
  </AppPage>
)

/** A member who is not the publisher. @throws route_not_found */
const memberOf = async ({ visit: { door }, app }: AppVisit, id: string) => {
  const member = (await listMembers(door.platform, app.slug)).find(({ userId }) => userId === id)
  if (member === undefined || member.isPublisher) throw refuse('route_not_found')
  return member
}

const toMembers = ['members', 'Members'] as const
const ofMember = stepsBelow('members/:id', toMembers, async (at, { id }) => ({ at, member: await memberOf(at, id) }))

/** The role that a form names. @throws invalid_request */
const roleIn = (fields: { readonly role: string }) => {
  const role = memberRoles.find((one) => one === fields.role)
  if (role === undefined) throw badInput('role', 'Choose a role.')
  return role
}

type OfMember = { readonly at: AppVisit; readonly member: TeamMember }

const whyNotChange = ({ at, member }: OfMember): string | null =>
  member.isPublisher ? 'The publisher of an app stays an owner of it.' : whyNot(at, rightOverRole(member.role))

const Person = ({ name, email }: { readonly name: string; readonly email: string }) => (
  <>
    <ChosenName name={name} /> (<bdi>{email}</bdi>)
  </>
)

/** What stays open after a removal, and the way to end it. */
const KeepsSecrets = ({ at: { visit, app } }: AtApp) => {
  const hrefOf = (environment: string): string => secretRotation.href(visit, { slug: app.slug }, { environment })
  return (
    <>
      Client secrets that they have copied keep working until you rotate{' '}
      <a href={hrefOf('development')}>the development secret</a> and{' '}
      <a href={hrefOf('production')}>the production secret</a>.
    </>
  )
}

/** Members leave by themselves, which is another step. */
const isSelf = ({ at, member }: OfMember): boolean => at.as === 'member' && member.userId === at.visit.userId

const memberRemoval = ofMember('remove', {
  link: ['Remove'],
  unless: (of) => (isSelf(of) ? 'To leave an app is a step of its own, on the page of its members.' : whyNotChange(of)),
  effect: 'takes away',
  ask: (_, { at, member }) => ({
    title: 'Remove this member?',
    says: (
      <>
        <p>
          <Person {...member} /> loses access to <bdi>{at.app.name}</bdi> at once. Pending invitations that they created
          stop working.
        </p>
        <p>
          <KeepsSecrets at={at} />
        </p>
      </>
    ),
    button: 'Remove the member',
  }),
  act: async ({ visit }, _, { slug, id }) =>
    await acting(visit, mayChangeMember(slug, id, null)).do(removeMember, { slug, userId: id }),
  done: { removed: 'The member is removed.' },
})

const roleChange = ofMember('role', {
  link: ['Change role'],
  unless: whyNotChange,
  effect: 'gives a right',
  form: formOf({ role: text }),
  ask: (_, { at, member }) => ({
    title: 'Change the role of this member?',
    says: (
      <p>
        <Person {...member} /> is now {offerWords[member.role]} of <bdi>{at.app.name}</bdi>. The new role takes effect
        at once.
      </p>
    ),
    button: 'Change the role',
    tone: 'harmless',
    fields: <RoleChoices at={at} chosen={member.role} />,
  }),
  act: async ({ visit, fields }, _, { slug, id }) => {
    const role = roleIn(fields)
    await acting(visit, mayChangeMember(slug, id, role)).do(changeMemberRole, { slug, userId: id, role })
    return 'changed'
  },
  done: { changed: 'The role is changed.' },
})

/** The roles that this person may give. */
const RoleChoices = ({ at, chosen }: AtApp & { readonly chosen: string }) => (
  <ChoiceSet legend="Role" name="role">
    <ChoiceList
      type="radio"
      name="role"
      options={memberRoles
        .filter((role) => at.may(rightOverRole(role)))
        .toReversed()
        .map((role) => [role, roleWords[role][0], roleWords[role][1]])}
      chosen={[chosen]}
    />
  </ChoiceSet>
)

/** Leads to the page that shows the link of a new invitation once. */
export const showInvitation = (visit: Visit, slug: string, { id, link, isMailed }: MadeInvitation): Response =>
  showOnce(visit, addressIn(visit, slug, 'invitations', id), link, isMailed ? { mailed: 'yes' } : {})

const ofInvitation = stepsBelow('invitations/:id', toMembers, async (at, { id }) => {
  const invitation = (await listInvitations(at.visit.door.platform, at.app.id)).find((one) => one.id === id)
  if (invitation === undefined) throw refuse('route_not_found')
  return { at, invitation }
})

const invitationEnd = ofInvitation('revoke', {
  link: ['Revoke'],
  unless: ({ at, invitation: { role } }) => whyNot(at, rightOverRole(role)),
  effect: 'takes away',
  ask: (_, { at, invitation: { email, role } }) => ({
    title: 'Revoke this invitation?',
    says: (
      <p>
        The link that lets <bdi>{email}</bdi> become {offerWords[role]} of <bdi>{at.app.name}</bdi> stops working at
        once.
      </p>
    ),
    button: 'Revoke the invitation',
  }),
  act: async ({ visit }, _, { slug, id }) =>
    await acting(visit, mayRevokeInvitation(slug, id)).do(revokeInvitation, { slug, id }),
  done: { revoked: 'The invitation is revoked. Its link no longer works.' },
})

const leaving = stepsOfApp(['console'], toMembers)('leave', {
  link: ['Leave'],
  effect: 'takes away',
  unless: ({ app, path }, { userId }) =>
    app.ownerId === userId ? (
      <>
        The publisher of an app cannot leave it. <a href={path('transfer')}>Transfer the app</a> first.
      </>
    ) : null,
  ask: (_, { app }) => ({
    title: 'Leave this app?',
    says: (
      <p>
        You lose access to <bdi>{app.name}</bdi> at once. To come back, you need a new invitation.
      </p>
    ),
    button: 'Leave the app',
  }),
  act: async ({ visit }, _, { slug }) => {
    await acting(visit, mayInApp(slug, 'view')).do(removeMember, { slug, userId: visit.userId })
    return seeOther(`${consolePath}?done=left`)
  },
  done: {},
})

export const memberSteps = [leaving, memberRemoval, roleChange, invitationEnd]

import { refuse } from '../../domain/errors.ts'
import { memberRoles, rightOverRole } from '../../domain/member.ts'
import {
  changeMemberRole,
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
import { badInput } from '../../operations/decide.ts'
import { ChoiceList, ChoiceSet } from '../design/field.tsx'
import { ChosenName } from '../design/values.tsx'
import { emptyForm, formOf, text } from '../form.ts'
import { showOnce } from '../secret-page.tsx'
import type { Visit } from '../visit.ts'
import { offerWords, roleWords } from '../words.ts'
import { acting, addressIn, type AppVisit, type AtApp, stepsBelow } from './app-area.tsx'
import { secretRotation } from './credentials.tsx'

const ofMembers = stepsBelow('members', 'Members')

/** A member who is not the publisher. @throws route_not_found */
const memberOf = async ({ visit: { door }, app }: AppVisit, id: string) => {
  const member = (await listMembers(door.platform, app.slug)).find(({ userId }) => userId === id)
  if (member === undefined || member.isPublisher) throw refuse('route_not_found')
  return member
}

/** The role that a form names. @throws invalid_request */
export const roleIn = (fields: { readonly role: string }) => {
  const role = memberRoles.find((one) => one === fields.role)
  if (role === undefined) throw badInput('role', 'Choose a role.')
  return role
}

type OfMember = { readonly at: AppVisit; readonly member: TeamMember }

const mayChange = ({ at, member }: OfMember): boolean => !member.isPublisher && at.may(rightOverRole(member.role))

const Person = ({ name, email }: { readonly name: string; readonly email: string }) => (
  <>
    <ChosenName name={name} /> (<bdi>{email}</bdi>)
  </>
)

/** What stays open after a removal, and the way to end it. */
export const KeepsSecrets = ({ at: { visit, app } }: AtApp) => {
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
export const isSelf = ({ at, member }: OfMember): boolean => at.as === 'member' && member.userId === at.visit.userId

export const memberRemoval = ofMembers(':id/remove', {
  link: ['Remove'],
  when: (of: OfMember) => mayChange(of) && !isSelf(of),
  effect: 'takes away',
  form: emptyForm,
  ask: async (_, at, { id }) => ({
    title: 'Remove this member?',
    says: (
      <>
        <p>
          <Person {...await memberOf(at, id)} /> loses access to <bdi>{at.app.name}</bdi> at once. Pending invitations
          that they created stop working.
        </p>
        <p>
          <KeepsSecrets at={at} />
        </p>
      </>
    ),
    button: 'Remove the member',
  }),
  act: async ({ visit }, { slug, id }) => {
    await acting(visit, mayChangeMember(slug, id, null)).do(removeMember, { slug, userId: id })
    return 'removed'
  },
  done: { removed: 'The member is removed.' },
})

export const roleChange = ofMembers(':id/role', {
  link: ['Change role'],
  when: mayChange,
  effect: 'gives a right',
  form: formOf({ role: text }),
  ask: async (_, at, { id }) => {
    const member = await memberOf(at, id)
    return {
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
    }
  },
  act: async ({ visit, fields }, { slug, id }) => {
    const role = roleIn(fields)
    await acting(visit, mayChangeMember(slug, id, role)).do(changeMemberRole, { slug, userId: id, role })
    return 'changed'
  },
  done: { changed: 'The role is changed.' },
})

/** The roles that this person may give. */
export const RoleChoices = ({ at, chosen }: AtApp & { readonly chosen: string }) => (
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

type OfInvitation = { readonly at: AppVisit; readonly invitation: PendingInvitation }

export const invitationEnd = stepsBelow('invitations', 'Members', { page: 'members' })(':id/revoke', {
  link: ['Revoke'],
  when: ({ at, invitation }: OfInvitation) => at.may(rightOverRole(invitation.role)),
  effect: 'takes away',
  form: emptyForm,
  ask: async ({ door }, { app }, { id }) => {
    const found = (await listInvitations(door.platform, app.id)).find((one) => one.id === id)
    if (found === undefined) throw refuse('route_not_found')
    return {
      title: 'Revoke this invitation?',
      says: (
        <p>
          The link that lets <bdi>{found.email}</bdi> become {offerWords[found.role]} of <bdi>{app.name}</bdi> stops
          working at once.
        </p>
      ),
      button: 'Revoke the invitation',
    }
  },
  act: async ({ visit }, { slug, id }) => {
    await acting(visit, mayRevokeInvitation(slug, id)).do(revokeInvitation, { slug, id })
    return 'revoked'
  },
  done: { revoked: 'The invitation is revoked. Its link no longer works.' },
})

export const memberSteps = [memberRemoval, roleChange, invitationEnd]

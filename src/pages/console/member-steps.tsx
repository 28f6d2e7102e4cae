import { Elysia } from 'elysia'
import { refuse } from '../../domain/errors.ts'
import { hasRight, type MemberRole, memberRoles } from '../../domain/member.ts'
import type { Door } from '../../http/door.ts'
import { mayInActiveApp, mayInApp } from '../../operations/acting-as.ts'
import { deleteApp } from '../../operations/apps/apps.ts'
import {
  inviteMember,
  listInvitations,
  mayRevokeInvitation,
  revokeInvitation,
  changeMemberRole,
  listMembers,
  mayChangeMember,
  removeMember,
} from '../../operations/apps/members.ts'
import { badInput } from '../../operations/decide.ts'
import { reachOf } from '../../operations/reach.ts'
import { confirmed } from '../confirmation.tsx'
import { Field } from '../design/field.tsx'
import { ChosenName } from '../design/values.tsx'
import { emptyForm, formOf, text } from '../form.ts'
import { seeOther } from '../page.ts'
import type { Visit } from '../visit.ts'
import { offerWords, roleWords } from '../words.ts'
import { RoleChoices, showInvitation } from './members.tsx'
import { consoleAppPath, consoleArea, consolePath, type OwnApp, ownAppOf } from './own-app.tsx'
import { KeepsSecrets } from './secret-parts.tsx'

type Slug = { readonly slug: string }
type Of = Slug & { readonly id: string }
const members = ({ slug }: Slug) => ({ href: consoleAppPath(slug, 'members'), name: 'Members' })

/** Everything about the members of an app that is asked first. */
export const memberSteps = (door: Door) =>
  new Elysia()
    .use(removal(door))
    .use(roleChange(door))
    .use(leaving(door))
    .use(revocation(door))
    .use(transferOffer(door))
    .use(deletion(door))

/** A member who is not the publisher. @throws route_not_found */
const memberOf = async (door: Door, visit: Visit, { slug, id }: Of) => {
  const { app } = await ownAppOf(visit, slug)
  const member = (await listMembers(door.platform, slug)).find(({ userId }) => userId === id)
  if (member === undefined || member.isPublisher) throw refuse('route_not_found')
  return { app, member }
}

const Person = ({ name, email }: { readonly name: string; readonly email: string }) => (
  <>
    <ChosenName name={name} /> (<bdi>{email}</bdi>)
  </>
)

const removal = (door: Door) =>
  confirmed(door, '/console/:slug/members/:id/remove', {
    area: consoleArea,
    proof: 'none',
    form: emptyForm,
    back: members,
    ask: async (visit, at) => {
      const { app, member } = await memberOf(door, visit, at)
      return {
        title: 'Remove this member?',
        belongsTo: app.name,
        says: (
          <>
            <p>
              <Person {...member} /> loses access to <bdi>{app.name}</bdi> at once. Pending invitations that they
              created stop working.
            </p>
            <p>
              <KeepsSecrets slug={app.slug} />
            </p>
          </>
        ),
        button: 'Remove the member',
      }
    },
    act: async ({ visit }, { slug, id }, back) => {
      await visit.as(mayChangeMember(slug, id, null)).do(removeMember, { slug, userId: id })
      return back('removed')
    },
  })

const roleForm = formOf({ role: text })

const roleChange = (door: Door) =>
  confirmed(door, '/console/:slug/members/:id/role', {
    area: consoleArea,
    proof: 'asked',
    form: roleForm,
    back: members,
    ask: async (visit, at) => {
      const { app, member } = await memberOf(door, visit, at)
      return {
        title: 'Change the role of this member?',
        belongsTo: app.name,
        says: (
          <p>
            <Person {...member} /> is now {offerWords[member.role]} of <bdi>{app.name}</bdi>. The new role takes effect
            at once.
          </p>
        ),
        button: 'Change the role',
        tone: 'harmless',
        fields: <RoleChoices app={app} chosen={member.role} />,
      }
    },
    act: async ({ visit, fields }, { slug, id }, back) => {
      const role: MemberRole | undefined = memberRoles.find((one) => one === fields.role)
      if (role === undefined) throw badInput('role', 'Choose a role.')
      const input = { slug, userId: id, role }
      await visit.as(mayChangeMember(slug, id, role)).do(changeMemberRole, input)
      return back('changed')
    },
  })

const leaving = (door: Door) =>
  confirmed(door, '/console/:slug/leave', {
    area: consoleArea,
    proof: 'none',
    form: emptyForm,
    back: members,
    ask: async (visit, { slug }) => {
      const { app } = await ownAppOf(visit, slug)
      const isPublisher = app.ownerId === visit.userId
      return {
        title: 'Leave this app?',
        belongsTo: app.name,
        says: isPublisher ? (
          <p>
            The publisher of an app cannot leave it. <a href={consoleAppPath(slug, 'transfer')}>Transfer the app</a>{' '}
            first.
          </p>
        ) : (
          <p>
            You lose access to <bdi>{app.name}</bdi> at once. To come back, you need a new invitation.
          </p>
        ),
        button: isPublisher ? null : 'Leave the app',
      }
    },
    act: async ({ visit }, { slug }) => {
      await visit.as(mayInApp(slug, 'view')).do(removeMember, { slug, userId: visit.userId })
      return seeOther(`${consolePath}?done=left`)
    },
  })

const revocation = (door: Door) =>
  confirmed(door, '/console/:slug/invitations/:id/revoke', {
    area: consoleArea,
    proof: 'none',
    form: emptyForm,
    back: members,
    ask: async (visit, { slug, id }) => {
      const { app } = await ownAppOf(visit, slug)
      const found = (await listInvitations(door.platform, app.id)).find((one) => one.id === id)
      if (found === undefined) throw refuse('route_not_found')
      return {
        title: 'Revoke this invitation?',
        belongsTo: app.name,
        says: (
          <p>
            The link that lets <bdi>{found.email}</bdi> become {offerWords[found.role]} of <bdi>{app.name}</bdi> stops
            working at once.
          </p>
        ),
        button: 'Revoke the invitation',
      }
    },
    act: async ({ visit }, { slug, id }, back) => {
      await visit.as(mayRevokeInvitation(slug, id)).do(revokeInvitation, { slug, id })
      return back('revoked')
    },
  })

/** The app, if its role lets this person do it. @throws right_missing */
const ownedBy = async (visit: Visit, slug: string, right: 'transfer' | 'delete'): Promise<OwnApp['app']> => {
  const { app } = await ownAppOf(visit, slug)
  if (!hasRight(app.role, right)) throw refuse('right_missing', { message: onlyOwners })
  return app
}
const onlyOwners = `Only an ${roleWords.owner[0].toLowerCase()} of the app can do this.`

const transferForm = formOf({ email: text })

const transferOffer = (door: Door) =>
  confirmed(door, '/console/:slug/transfer', {
    area: consoleArea,
    proof: 'asked',
    form: transferForm,
    back: members,
    ask: async (visit, { slug }) => {
      const app = await ownedBy(visit, slug, 'transfer')
      return {
        title: 'Transfer this app?',
        belongsTo: app.name,
        says: (
          <>
            <p>
              The next page shows a link to send to the new publisher
              {visit.door.platform.mailer === null ? '' : ', and they also receive one by email'}. When they accept,
              users see their name as the publisher of <bdi>{app.name}</bdi>, and the app counts towards their quota.
              Until then nothing changes.
            </p>
            <p>
              The present publisher stays an owner until they leave or are removed. Secrets, tokens and grants stay
              valid.
            </p>
          </>
        ),
        button: 'Create the invitation',
        tone: 'harmless',
        fields: (
          <Field
            label="New publisher’s email address"
            name="email"
            input={{ type: 'email', required: true, maxLength: 254, autocomplete: 'off' }}
          />
        ),
      }
    },
    act: async ({ visit, fields: { email }, ticket }, { slug }) => {
      const input = { slug, email, role: 'publisher', invitedBy: visit.userId } as const
      const may = mayInActiveApp(slug, 'transfer')
      return showInvitation(visit, slug, await visit.as(may, ticket).do(inviteMember, input))
    },
  })

const deletion = (door: Door) =>
  confirmed(door, '/console/:slug/delete', {
    area: consoleArea,
    proof: 'asked',
    form: emptyForm,
    back: members,
    typeName: async (_, { slug }) => slug,
    ask: async (visit, { slug }) => {
      const app = await ownedBy(visit, slug, 'delete')
      const reach = await reachOf(door.platform, { kind: 'app', appId: app.id })
      return {
        title: 'Delete this app?',
        belongsTo: app.name,
        says: (
          <p>
            <bdi>{app.name}</bdi> disappears for all members and users at once. All its secrets, tokens and grants are
            revoked. For 7 days an operator can restore the app, without them. Then it is removed for good.
          </p>
        ),
        counts: [
          [reach.users, 'user has allowed this app', 'users have allowed this app'],
          [reach.grants, 'grant is revoked', 'grants are revoked'],
        ],
        button: 'Delete this app',
      }
    },
    act: async ({ visit }, { slug }) => {
      await visit.as(mayInApp(slug, 'delete')).do(deleteApp, slug)
      return seeOther(`${consolePath}?done=deleted`)
    },
  })

import { Elysia } from 'elysia'
import type { Door } from '../../http/door.ts'
import { endUserAccess } from '../../operations/end-access.ts'
import { resetFactors } from '../../operations/factors/change-factors.ts'
import { liveSessionsOf, reachOf } from '../../operations/reach.ts'
import { type InspectedUser, inspectUser } from '../../operations/users/find-user.ts'
import { confirmUser, isForSomebodyElse } from '../../operations/users/passwords.ts'
import { confirmed } from '../confirmation.tsx'
import { emptyForm } from '../form.ts'
import { deskArea, userPath } from './desk-page.tsx'
import { ChosenName } from '../design/values.tsx'

const user = ({ id }: { readonly id: string }) => ({ href: userPath(id) })

const ownAccess = 'You cannot end your own access here: see Account, Sessions and Connected apps.'

const ownFactors = 'You cannot reset your own second factors here: see Account, Second factors.'

const Name = ({ user: { name, email } }: { readonly user: InspectedUser }) => (
  <>
    <ChosenName name={name} /> ({email})
  </>
)

/** What else an operator does about a user's access. Each step asks first. */
export const userSteps = (door: Door) =>
  new Elysia()
    .use(
      confirmed(door, '/desk/users/:id/end-access', {
        area: deskArea,
        proof: 'none',
        form: emptyForm,
        back: user,
        ask: async (_, { id }) => {
          const found = await inspectUser(door.platform, id)
          const reach = await reachOf(door.platform, { kind: 'user', userId: id })
          return {
            title: 'End all access of this user?',
            belongsTo: found.email,
            says: (
              <p>
                <Name user={found} /> is signed out everywhere, and every app loses the access that they gave it. Their
                password stays valid: they can sign in and allow apps again. Their own apps do not change.
              </p>
            ),
            counts: [
              [await liveSessionsOf(door.platform, id), 'session ends', 'sessions end'],
              [reach.apps, 'app loses its access to their data', 'apps lose their access to their data'],
              [reach.embeddedSessions, 'open page of an app closes', 'open pages of apps close'],
            ],
            button: 'End all access',
          }
        },
        act: async ({ visit }, { id }, back) => {
          const { email } = await inspectUser(door.platform, id)
          await visit.asOperator({ may: isForSomebodyElse(id, ownAccess) }).do(endUserAccess, email)
          return back('end-access')
        },
      }),
    )
    .use(
      confirmed(door, '/desk/users/:id/confirm', {
        area: deskArea,
        proof: 'asked',
        form: emptyForm,
        back: user,
        ask: async (_, { id }) => {
          const found = await inspectUser(door.platform, id)
          return {
            title: 'Let this user sign in again?',
            belongsTo: found.email,
            says: (
              <>
                <p>
                  <Name user={found} /> is suspended because data was lost, and cannot sign in in any way. Their
                  password and second factors may have been changed, and their operator rights removed, in the lost
                  time.
                </p>
                <p>Do it only if all are still as they should be. Otherwise create a reset link.</p>
              </>
            ),
            button: 'Let them sign in',
            tone: 'harmless',
          }
        },
        act: async ({ visit }, { id }, back) => {
          const { email } = await inspectUser(door.platform, id)
          await visit.asOperator().do(confirmUser, email)
          return back('confirm')
        },
      }),
    )
    .use(
      confirmed(door, '/desk/users/:id/reset-factors', {
        area: deskArea,
        proof: 'asked',
        form: emptyForm,
        back: user,
        ask: async (_, { id }) => {
          const found = await inspectUser(door.platform, id)
          return {
            title: 'Reset the second factors of this user?',
            belongsTo: found.email,
            says: (
              <>
                <p>
                  Do this when <Name user={found} /> has lost their second factors, and only after you have verified
                  that the request comes from them.
                </p>
                <p>
                  Their authenticator app, passkeys and recovery codes stop working, and their sessions end. They can
                  sign in with their password alone. If a second factor is required of them, they set up a new one then.
                </p>
              </>
            ),
            counts: [[await liveSessionsOf(door.platform, id), 'session ends', 'sessions end']],
            button: 'Reset the second factors',
          }
        },
        act: async ({ visit }, { id }, back) => {
          const { email } = await inspectUser(door.platform, id)
          await visit.asOperator({ may: isForSomebodyElse(id, ownFactors) }).do(resetFactors, email)
          return back('reset-factors')
        },
      }),
    )

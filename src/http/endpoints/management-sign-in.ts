import { Type } from '@sinclair/typebox'
import { answerSignIn } from '../../operations/sessions/handover.ts'
import type { Door } from '../door.ts'
import { flag, model, text } from '../contract/fields.ts'
import { jsonBody } from '../endpoint.ts'
import { managed } from '../management.ts'

const requestParameter = {
  name: 'id',
  description: 'The `request` that the browser brought to `SIGN_IN_URL`.',
  example: 'apsr_…',
}
const whereTo = model('BrowserRedirect', 'Where to send the browser.', {
  redirectTo: text(
    'A redirect to this address completes the sign-in. It works once, in the browser that asked.',
    '<URL>',
  ),
})
const acceptance = model('SignInAcceptance', 'Who has signed in.', {
  externalId: text("The builder's own ID of the person.", '42'),
  reauthenticated: Type.Optional(
    flag(
      'Whether the builder has asked the person for their password or another proof since this request was made, as `prompt=login` asks it to; false if it is missing. Without it, a person who confirms that it is them is refused.',
      true,
    ),
  ),
})
const rejection = model('SignInRejection', 'Why nobody signs in.', {
  reason: text('Why, in a sentence for the person; up to 200 characters.', 'Your plan has no apps.'),
})

const serverKeyOf = ({ serverKey }: Door) => serverKey
const errors = ['record_not_found', 'operator_protected', 'version_not_eligible'] as const

export const acceptSignIn = managed({
  method: 'POST',
  path: '/sign-in-requests/:id/accept',
  right: 'sign-in',
  body: jsonBody(acceptance),
  answers: { 200: whereTo },
  errors,
  id: 'acceptSignIn',
  summary: 'Say who a browser belongs to',
  description: 'For the person who is signed in at the builder. Operators sign in here with their password.',
  parameters: [requestParameter],
  run: async (door, call, { caller, path: { id = '' }, body }) => {
    const { externalId: of, reauthenticated: wasAsked = false } = body
    const answer = { request: id, serverKey: serverKeyOf(door), externalId: of, wasAsked }
    return await answerSignIn(door.platform, call, { kind: 'service', id: caller.id }, answer)
  },
})

export const rejectSignIn = managed({
  method: 'POST',
  path: '/sign-in-requests/:id/reject',
  right: 'sign-in',
  body: jsonBody(rejection),
  answers: { 200: whereTo },
  errors,
  id: 'rejectSignIn',
  summary: 'Refuse to say who a browser belongs to',
  description: 'The person sees the reason.',
  parameters: [requestParameter],
  run: async (door, call, { caller, path: { id = '' }, body }) => {
    const answer = { request: id, serverKey: serverKeyOf(door), reason: body.reason }
    return await answerSignIn(door.platform, call, { kind: 'service', id: caller.id }, answer)
  },
})

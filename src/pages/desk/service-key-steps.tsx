import {
  confirmServiceKey,
  revokeServiceKey,
  rotateServiceKey,
  serviceKeyOf,
} from '../../operations/service-keys/change-service-keys.ts'
import { Time } from '../design/values.tsx'
import { emptyForm, formOf, numberIn, text } from '../form.ts'
import { GraceField, showOnce } from '../secret-page.tsx'
import { stepsOf } from '../step.tsx'
import type { Visit } from '../visit.ts'
import { deskArea, serviceKeyPath } from './desk-page.tsx'

const ofKey = stepsOf({
  area: deskArea,
  root: '/desk/service-keys/:id',
  find: async ({ door }, { id }) => await serviceKeyOf(door.platform, id),
  belongsTo: ({ name }) => name,
})

/** Redirects to the page that shows a new key once. */
export const showNewKey = (visit: Visit, { id, secret }: { readonly id: string; readonly secret: string }): Response =>
  showOnce(visit, serviceKeyPath(id, 'new'), secret)

const confirmation = ofKey('confirm', {
  link: ['Reactivate the key', 'It was suspended because data was lost.'],
  when: ({ status }) => status === 'suspended',
  effect: 'gives a right',
  form: emptyForm,
  ask: () => ({
    title: 'Reactivate this key?',
    says: (
      <p>
        It was suspended because data was lost, and the lost data may include its revocation. Reactivate it only if you
        know that it had not been revoked.
      </p>
    ),
    button: 'Reactivate the key',
    tone: 'harmless',
  }),
  act: async ({ visit }, { id }, find) => {
    await find()
    await visit.asOperator().do(confirmServiceKey, id)
    return 'confirmed'
  },
  done: { confirmed: 'The key works again.' },
})

const rotation = ofKey('rotate', {
  link: ['Rotate the key', 'Creates a new one with the same rights. The old one ends later.'],
  effect: 'gives a secret',
  form: formOf({ graceHours: text }),
  ask: () => ({
    title: 'Rotate this key?',
    says: (
      <p>
        You get a new key with the same rights and networks, which is shown once. The old key ends after the hours
        below, so that you can update the backend in the meantime. With 0 hours it ends at once.
      </p>
    ),
    button: 'Rotate the key',
    fields: <GraceField label="Hours until the old key ends" hint="0 ends it at once." />,
  }),
  act: async ({ visit, fields, ticket }, { id }, find) => {
    await find()
    const graceHours = numberIn(fields.graceHours)
    return showNewKey(visit, await visit.asOperator({ ticket }).do(rotateServiceKey, { id, graceHours }))
  },
  done: {},
  again:
    'This form was sent before. Only the first answer showed the new key. If you did not copy it, rotate that key.',
})

const revocation = ofKey('revoke', {
  link: ['Revoke the key', 'It stops working at once.'],
  effect: 'takes away',
  form: emptyForm,
  ask: (_, { lastUsedAt }) => ({
    title: 'Revoke this key?',
    says: (
      <p>
        Every call with it is refused from now on. This cannot be undone. Last use:{' '}
        <Time at={lastUsedAt} otherwise="never" />. Users, websites and stores that it sent stay.
      </p>
    ),
    button: 'Revoke the key',
  }),
  act: async ({ visit }, { id }, find) => {
    await find()
    await visit.asOperator().do(revokeServiceKey, id)
    return 'revoked'
  },
  done: { revoked: 'The key is revoked. Calls with it are refused from now on.' },
})

/** What ends a service key, or lets it work again, in the order of the links to it. */
export const serviceKeySteps = [confirmation, rotation, revocation]

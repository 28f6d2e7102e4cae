import { Elysia } from 'elysia'
import type { Door } from '../../http/door.ts'
import {
  confirmServiceKey,
  revokeServiceKey,
  rotateServiceKey,
} from '../../operations/service-keys/change-service-keys.ts'
import { confirmed } from '../confirmation.tsx'
import { GraceField } from '../grace-field.tsx'
import { emptyForm, formOf, numberIn, text } from '../form.ts'
import { deskArea, serviceKeyPath } from './desk-page.tsx'
import { Time } from '../design/values.tsx'
import { serviceKeyOf, showNewKey } from './service-keys.tsx'

const back = ({ id }: { readonly id: string }) => ({ href: serviceKeyPath(id) })
const rotateForm = formOf({ graceHours: text })

/** What ends a service key, or lets it work again. Each step asks first. */
export const serviceKeySteps = (door: Door) =>
  new Elysia()
    .use(
      confirmed(door, '/desk/service-keys/:id/rotate', {
        area: deskArea,
        proof: 'asked',
        form: rotateForm,
        back,
        again:
          'This form was sent before. Only the first answer showed the new key. If you did not copy it, rotate that key.',
        ask: async (_, { id }) => {
          const { name } = await serviceKeyOf(door, id)
          return {
            title: 'Rotate this key?',
            belongsTo: name,
            says: (
              <p>
                You get a new key with the same rights and networks, which is shown once. The old key ends after the
                hours below, so that you can update the backend in the meantime. With 0 hours it ends at once.
              </p>
            ),
            button: 'Rotate the key',
            fields: <GraceField label="Hours until the old key ends" hint="0 ends it at once." />,
          }
        },
        act: async ({ visit, fields, ticket }, { id }) => {
          await serviceKeyOf(door, id)
          const graceHours = numberIn(fields.graceHours)
          return showNewKey(visit, await visit.asOperator({ ticket }).do(rotateServiceKey, { id, graceHours }))
        },
      }),
    )
    .use(
      confirmed(door, '/desk/service-keys/:id/revoke', {
        area: deskArea,
        proof: 'none',
        form: emptyForm,
        back,
        ask: async (_, { id }) => {
          const { name, lastUsedAt } = await serviceKeyOf(door, id)
          return {
            title: 'Revoke this key?',
            belongsTo: name,
            says: (
              <p>
                Every call with it is refused from now on. This cannot be undone. Last use:{' '}
                <Time at={lastUsedAt} otherwise="never" />. Users, websites and stores that it sent stay.
              </p>
            ),
            button: 'Revoke the key',
          }
        },
        act: async ({ visit }, { id }, done) => {
          await serviceKeyOf(door, id)
          await visit.asOperator().do(revokeServiceKey, id)
          return done('revoked')
        },
      }),
    )
    .use(
      confirmed(door, '/desk/service-keys/:id/confirm', {
        area: deskArea,
        proof: 'asked',
        form: emptyForm,
        back,
        ask: async (_, { id }) => {
          const { name } = await serviceKeyOf(door, id)
          return {
            title: 'Reactivate this key?',
            belongsTo: name,
            says: (
              <p>
                It was suspended because data was lost, and the lost data may include its revocation. Reactivate it only
                if you know that it had not been revoked.
              </p>
            ),
            button: 'Reactivate the key',
            tone: 'harmless',
          }
        },
        act: async ({ visit }, { id }, done) => {
          await serviceKeyOf(door, id)
          await visit.asOperator().do(confirmServiceKey, id)
          return done('confirmed')
        },
      }),
    )

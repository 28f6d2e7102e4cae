import { Type } from '@sinclair/typebox'
import { resourceKinds } from '../../domain/resource.ts'
import type { Door } from '../../http/door.ts'
import { createInstall } from '../../operations/installs/installs.ts'
import { email, line, SelectField } from '../design/field.tsx'
import { formOf } from '../form.ts'
import { seeOther } from '../page.ts'
import { parameterOf } from '../query.ts'
import { resourceKindWords } from '../words.ts'
import { deskForm, deskPaths } from './desk-page.tsx'

const kinds = resourceKinds.map((kind) => [kind, resourceKindWords[kind]] as const)

/** The form that installs an app for a user. */
export const deskNewInstallRoutes = (door: Door) =>
  deskForm(door, deskPaths.newInstall, {
    title: 'Install an app for a user',
    about: 'The install waits for approval, unless installs are approved automatically. The user is not asked.',
    tab: deskPaths.installs,
    effect: 'gives a right',
    form: formOf({
      app: line('App', {
        hint: 'The slug of the app. It gets the scopes of its live version, or none without a live version.',
        maxLength: 63,
        spellcheck: false,
      }),
      user: email('User’s email address'),
      resource: line('Slug of the website or store', { hint: 'It must belong to this user.', spellcheck: false }),
      kind: Type.Union(resourceKinds.map((kind) => Type.Literal(kind))),
    }),
    values: (visit) => ({ app: parameterOf(visit, 'app') }),
    more: () => <SelectField label="Kind" name="kind" options={kinds} value="site" />,
    button: 'Install',
    act: async ({ visit, fields: { app: slug, user: userEmail, kind, resource: resourceSlug }, ticket }) => {
      const input = { slug, userEmail, kind, resourceSlug }
      const { state } = await visit.asOperator({ ticket }).do(createInstall, input)
      return seeOther(`${deskPaths.installs}?done=${state === 'active' ? 'installed' : 'created'}`)
    },
  })

import type { ScopeName } from '../../domain/scope.ts'
import type { Door } from '../../http/door.ts'
import { createApp } from '../../operations/apps/apps.ts'
import { email, line } from '../design/field.tsx'
import { ScopeChoice } from '../design/scopes.tsx'
import { formOf, texts } from '../form.ts'
import { seeOther } from '../page.ts'
import { parameterOf } from '../query.ts'
import { slugHint } from '../words.ts'
import { deskForm, deskAppPath, deskPaths } from './desk-page.tsx'
import { readCatalogue } from '../../operations/scopes/scopes.ts'

/** The scope that nearly every app needs. */
const firstScope = 'profile:read' satisfies ScopeName

/** The form that registers an app for a user. */
export const deskNewAppRoutes = (door: Door) =>
  deskForm(door, deskPaths.newApp, {
    title: 'Create an app',
    tab: deskPaths.apps,
    effect: 'gives an app to somebody',
    form: formOf({
      owner: email('Owner’s email address', { hint: 'An active user. They manage the app under Developers.' }),
      name: line('Name', { hint: 'Users see this name when the app asks for their consent.' }),
      slug: line('Slug', { hint: slugHint, maxLength: 63, spellcheck: false }),
      scopes: texts,
    }),
    values: (visit) => ({ owner: parameterOf(visit, 'owner') }),
    more: async () => <ScopeChoice catalogue={await readCatalogue(door.platform)} chosen={[firstScope]} />,
    button: 'Create the app',
    act: async ({ visit, fields: { owner, name, slug, scopes }, ticket }) => {
      const input = { ownerEmail: owner, name, slug, scopes: scopes.join(' ') }
      const app = await visit.asOperator({ ticket }).do(createApp, input)
      return seeOther(`${deskAppPath(app.slug)}?done=created`)
    },
  })

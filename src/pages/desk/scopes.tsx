import { Type } from '@sinclair/typebox'
import { refuse } from '../../domain/errors.ts'
import { type OwnScopeUse, ownScopeUses } from '../../domain/scope.ts'
import type { Door } from '../../http/door.ts'
import {
  addScope,
  countScopes,
  findScope,
  listScopes,
  type OwnScopeRecord,
  retireScope,
  scopeReach,
} from '../../operations/scopes/scopes.ts'
import { Badge } from '../design/badge.tsx'
import { EmptyState } from '../design/list-tools.tsx'
import { line, SelectField } from '../design/field.tsx'
import { ListRows, Row } from '../design/row-list.tsx'
import { Facts, Time } from '../design/values.tsx'
import { formOf } from '../form.ts'
import { list, listRoutes } from '../list.ts'
import { page, seeOther } from '../page.ts'
import { StepLinks, stepsOf } from '../step.tsx'
import type { Visit } from '../visit.ts'
import { deskAudit } from './audit.tsx'
import { AppLink, deskArea, deskForm, DeskPage, deskPaths, scopePath } from './desk-page.tsx'
import { pageFor, routes } from '../change.tsx'

const deskScopes = list('desk-scopes', deskPaths.scopes, {})

const useWords: Readonly<Record<OwnScopeUse, string>> = {
  both: 'Apps themselves, and users who consent',
  app: 'Apps themselves',
  user: 'Users who consent',
}
const restrictions = [
  ['yes', 'Apps that were given the scope'],
  ['no', 'Every app'],
] as const

const newScopeForm = formOf({
  name: line('Name', { hint: 'area:verb, such as orders:read. It never changes.', maxLength: 64, spellcheck: false }),
  text: line('What it allows', {
    hint: 'Users read it on the consent page, such as “List your orders”. It never changes.',
  }),
  usableBy: Type.Union(ownScopeUses.map((use) => Type.Literal(use))),
  restricted: Type.Union(restrictions.map(([value]) => Type.Literal(value))),
})

/** The operator's own scopes. */
export const scopeRoutes = routes(() => [
  listRoutes(deskScopes, { by: 'operator', show: showList }),
  deskForm(deskPaths.newScope, {
    title: 'Add a scope',
    about: 'For the API of the builder. Consent pages show what it allows, and tokens carry its name.',
    tab: deskPaths.scopes,
    effect: 'gives scopes to an app',
    form: newScopeForm,
    more: () => (
      <>
        <SelectField
          label="Whose tokens can have it"
          name="usableBy"
          options={ownScopeUses.map((use) => [use, useWords[use]] as const)}
          value="user"
        />
        <SelectField
          label="Which apps can register it"
          name="restricted"
          hint="Without a user’s consent an app reads what all users have. So give such a scope only to apps that you trust."
          options={restrictions}
          value="yes"
        />
      </>
    ),
    button: 'Add the scope',
    act: async ({ visit, fields: { name, text: words, usableBy, restricted }, ticket }) => {
      const input = { name, text: words, usableBy, isRestricted: restricted === 'yes' }
      const { scope } = await visit.asOperator({ ticket }).do(addScope, input)
      return seeOther(`${scopePath(scope.name)}?done=added`)
    },
  }),
  pageFor('operator', '/desk/scopes/:name', showScope),
  retirement.routes,
])

const retirement = stepsOf({
  area: deskArea,
  root: '/desk/scopes/:name',
  find: async ({ door }, { name }) => await scopeOf(door, name),
  belongsTo: ({ name }) => name,
})('retire', {
  link: ['Retire the scope', 'Apps, grants and tokens lose it at once, for good.'],
  unless: ({ retiredAt }) => (retiredAt === null ? null : 'This scope is retired.'),
  effect: 'takes scopes from an app',
  ask: async ({ door }, scope) => {
    const reach = await scopeReach(door.platform, scope.name)
    return {
      title: 'Retire this scope?',
      says: (
        <p>
          Apps, grants and live tokens do not have <code>{scope.name}</code> any more, at once. Grants without another
          scope end. This cannot be undone, and the name is never used again.
        </p>
      ),
      counts: [
        [reach.apps, 'app loses it', 'apps lose it'],
        [reach.grants, 'grant loses it', 'grants lose it'],
        [reach.endedGrants, 'grant has no other scope and ends', 'grants have no other scope and end'],
      ],
      button: 'Retire the scope',
    }
  },
  act: async ({ visit }, { name }) => await visit.asOperator().do(retireScope, name),
  done: { retired: 'The scope is retired. Nothing has it any more.' },
})

/** @throws route_not_found */
const scopeOf = async ({ platform }: Door, name: string): Promise<OwnScopeRecord> => {
  const found = await findScope(platform, name)
  if (found === null) throw refuse('route_not_found')
  return found
}

const showList = async (visit: Visit): Promise<Response> => {
  const { platform } = visit.door
  const scopes = await deskScopes.read(visit).rows((window) => listScopes(platform, window))
  return page(
    <DeskPage
      title="Scopes"
      about="Scopes of your own, for the API of the builder. The built-in scopes are not in this list."
      visit={visit}
      tab={deskPaths.scopes}
      add={[deskPaths.newScope, 'Add a scope']}
    >
      <ListRows
        label="Scopes"
        of={scopes}
        row={(scope) => (
          <Row
            key={scope.name}
            href={scopePath(scope.name)}
            title={<code>{scope.name}</code>}
            badge={<ScopeState of={scope} />}
            facts={[<bdi>{scope.text}</bdi>, useWords[scope.for]]}
          />
        )}
        empty={
          <EmptyState title="No scopes of your own">Add one to let apps ask for what only your API has.</EmptyState>
        }
        total={await countScopes(platform)}
      />
    </DeskPage>,
  )
}

const ScopeState = ({ of: { restricted, retiredAt } }: { readonly of: OwnScopeRecord }) => {
  if (retiredAt !== null) return <Badge>Retired</Badge>
  return restricted ? <Badge tone="waiting">Restricted</Badge> : <Badge tone="good">Available</Badge>
}

/** Links to apps. */
const linksTo = (slugs: readonly string[]) =>
  slugs.length === 0
    ? 'None'
    : slugs.map((slug, index) => (
        <>
          {index === 0 ? '' : ', '}
          <AppLink slug={slug} />
        </>
      ))

const showScope = async (visit: Visit, { name }: { readonly name: string }): Promise<Response> => {
  const scope = await scopeOf(visit.door, name)
  const { restricted, createdAt, retiredAt } = scope
  const { registered, given } = await scopeReach(visit.door.platform, name)
  return page(
    <DeskPage
      title={name}
      belongsTo="Scope"
      badges={<ScopeState of={scope} />}
      visit={visit}
      tab={deskPaths.scopes}
      notices={{ added: 'The scope is added.', ...retirement.done }}
    >
      <Facts
        of={{
          'What it allows': <bdi>{scope.text}</bdi>,
          'Whose tokens can have it': useWords[scope.for],
          'Which apps can register it': restricted ? 'Apps that were given it on their page Settings' : 'Every app',
          'Registered by': linksTo(registered),
          'Given to': restricted ? linksTo(given) : null,
          Added: <Time at={createdAt} />,
          Retired: retiredAt && <Time at={retiredAt} />,
          Events: <a href={deskAudit.to({ target: name })}>Changes to this scope</a>,
        }}
      />
      {retiredAt === null ? (
        <>
          <h2>Change</h2>
          <StepLinks visit={visit} steps={[retirement]} of={scope} params={{ name }} />
        </>
      ) : null}
    </DeskPage>,
  )
}

import { refuse } from '../../domain/errors.ts'
import { moveInstall } from '../../operations/installs/installs.ts'
import { type DescribedInstall, describeInstall } from '../../operations/installs/lists.ts'
import { ChosenName } from '../design/values.tsx'
import { emptyForm, outcomeOf } from '../form.ts'
import { stepsOf } from '../step.tsx'
import type { Visit } from '../visit.ts'
import { resourceKindInSentence } from '../words.ts'
import { deskArea, deskPaths } from './desk-page.tsx'

const ofInstall = stepsOf({
  area: deskArea,
  root: '/desk/installs/:id',
  find: async ({ door }, { id }) => await describeInstall(door.platform, id),
  belongsTo: ({ appName }) => appName,
  back: () => ({ href: deskPaths.installs, name: 'Installs' }),
})

/** Decides about an install. @throws version_not_eligible if it is decided already */
export const decideInstall = async (visit: Visit, id: string, step: 'approve' | 'reject' | 'deactivate') => {
  const moved = await outcomeOf(visit.asOperator().do(moveInstall, { id, step }))
  if (moved.kind === 'refused') throw refuse('version_not_eligible', { message: tooLate })
}

export const tooLate = 'This install has already been decided, or no longer exists. Nothing has changed.'

const Where = ({ install }: { readonly install: DescribedInstall }) => (
  <p>
    <ChosenName name={install.appName} /> on the {resourceKindInSentence(install.kind)} <code>{install.resource}</code>{' '}
    of {install.user}.
  </p>
)

const rejection = ofInstall('reject', {
  link: ['Reject'],
  when: ({ approval }) => approval === 'pending',
  effect: 'takes away',
  form: emptyForm,
  ask: (_, install) => ({
    title: 'Reject this install?',
    says: (
      <>
        <Where install={install} />
        <p>Rejecting is final for this install. The user can install the app again.</p>
      </>
    ),
    button: 'Reject',
  }),
  act: async ({ visit }, { id }) => {
    await decideInstall(visit, id, 'reject')
    return 'reject'
  },
  done: { reject: 'The install is rejected.' },
})

const deactivation = ofInstall('deactivate', {
  link: ['Deactivate'],
  when: ({ approval, state }) => approval !== 'pending' && state === 'active',
  effect: 'takes away',
  form: emptyForm,
  ask: (_, install) => ({
    title: 'Deactivate this install?',
    says: (
      <>
        <Where install={install} />
        <p>
          The app loses access to this user’s data at once. The install cannot be reactivated, but the user can install
          the app again.
        </p>
      </>
    ),
    button: 'Deactivate',
  }),
  act: async ({ visit }, { id }) => {
    await decideInstall(visit, id, 'deactivate')
    return 'deactivate'
  },
  done: {
    deactivate: 'The install is deactivated. The app can no longer access this user’s data through it.',
  },
})

/** What ends an install. */
export const deskInstallSteps = [rejection, deactivation]

import type { OperatorStep } from '../../../domain/install.ts'
import type { DescribedInstall } from '../../../operations/installs/lists.ts'
import { Form } from '../../components/form.tsx'
import type { Visit } from '../../visit.ts'
import { installPath } from '../paths.ts'

type StepFormsProps = { readonly visit: Visit; readonly install: DescribedInstall }

/** What can be decided on an install now; nothing when it is over. */
export const StepForms = ({ visit, install }: StepFormsProps) => (
  <div class="beside">
    {stepsOf(install).map((step) => (
      <Form key={step} action={installPath(install.id, step)} visit={visit}>
        <button type="submit" class={step === 'approve' ? 'small' : 'danger small'}>
          {buttons[step]}
          <span class="unseen">
            {' '}
            <bdi>{install.appName}</bdi> for {install.user}
          </span>
        </button>
      </Form>
    ))}
  </div>
)

const stepsOf = ({ approval, state }: DescribedInstall): readonly OperatorStep[] => {
  if (approval === 'pending') return ['approve', 'reject']
  return state === 'active' ? ['deactivate'] : []
}

const buttons = { approve: 'Approve', reject: 'Reject', deactivate: 'Deactivate' } as const satisfies Record<
  OperatorStep,
  string
>

import type { VersionRecord } from '../../../operations/versions/version-record.ts'
import { Form } from '../../components/form.tsx'
import { seenField } from '../../version.ts'
import type { OwnApp } from '../owner.ts'
import { appPath } from '../paths.ts'

type VersionActionsProps = OwnApp & { readonly version: VersionRecord; readonly liveId: string | null }

/** What its developer may do with a version where it stands. What was shown comes back with the form. */
export const VersionActions = (props: VersionActionsProps) => {
  switch (props.version.status) {
    case 'draft':
      return (
        <ActionForm
          {...props}
          step="submit"
          button="Submit for review"
          hint="Its content cannot change from then on, unless you withdraw it. An operator reviews it before it can go live."
        />
      )
    case 'submitted':
      return (
        <ActionForm
          {...props}
          step="withdraw"
          button="Withdraw from review"
          hint="It becomes a draft again, which you can replace and submit anew. It loses its place in the queue."
        />
      )
    default:
      return null
  }
}

type ActionFormProps = VersionActionsProps & {
  readonly step: 'submit' | 'withdraw'
  readonly button: string
  readonly hint: string
}

const ActionForm = ({ visit, app, version, liveId, step, button, hint }: ActionFormProps) => (
  <Form action={appPath(app.slug, 'versions', version.version, step)} visit={visit}>
    <input type="hidden" name="seen" value={seenField({ ...version, liveId })} />
    <button type="submit" class={step === 'submit' ? undefined : 'secondary'} aria-describedby="step-hint">
      {button}
    </button>
    <small id="step-hint">{hint}</small>
  </Form>
)

import type { PlatformError } from '../../../domain/errors.ts'
import { Field } from '../../components/form.tsx'
import { deskPaths } from '../paths.ts'
import { actorKinds, type AuditFields, outcomes } from './read-search.ts'

type AuditFilterProps = { readonly fields: AuditFields; readonly error: PlatformError | null }

/** Asks for a part of the log; the answer is an address that can be kept and passed on. */
export const AuditFilter = ({ fields, error }: AuditFilterProps) => (
  <search aria-label="Events">
    <form method="get" action={deskPaths.audit} class="event-filter">
      <Field label="App" name="app" error={error} input={{ value: fields.app, placeholder: 'Slug', maxLength: 63 }} />
      <Field
        label="Who"
        name="actor"
        error={error}
        input={{ value: fields.actor, placeholder: 'Email, user ID or client ID', maxLength: 254 }}
      />
      <Choice label="Kind of actor" name="kind" value={fields.kind} options={actorKinds} />
      <Field
        label="Action"
        name="action"
        error={error}
        input={{ value: fields.action, placeholder: 'version or version.approved', maxLength: 100 }}
      />
      <Choice label="Outcome" name="outcome" value={fields.outcome} options={outcomes} />
      <Field
        label="Request ID"
        name="request"
        error={error}
        input={{ value: fields.request, placeholder: 'req_…', maxLength: 100 }}
      />
      <Field
        label="Since (UTC)"
        name="since"
        error={error}
        input={{ value: fields.since, placeholder: '2026-08-01T12:00', maxLength: 40 }}
      />
      <Field
        label="Until (UTC)"
        name="until"
        error={error}
        input={{ value: fields.until, placeholder: '2026-08-02', maxLength: 40 }}
      />
      <div class="beside">
        <button type="submit" class="secondary">
          Show events
        </button>
        <a href={deskPaths.audit}>Clear</a>
      </div>
    </form>
  </search>
)

type ChoiceProps = {
  readonly label: string
  readonly name: string
  readonly value: string
  readonly options: readonly string[]
}

const Choice = ({ label, name, value, options }: ChoiceProps) => (
  <div class="field">
    <label for={name}>{label}</label>
    <select id={name} name={name}>
      <option value="">Any</option>
      {options.map((option) => (
        <option key={option} value={option} selected={option === value}>
          {option}
        </option>
      ))}
    </select>
  </div>
)

import { graceHours } from '../domain/credential.ts'
import { Field } from './design/field.tsx'

/** The hours of a grace period. */
export const GraceField = ({ label, hint }: { readonly label: string; readonly hint: string }) => (
  <Field
    label={label}
    name="graceHours"
    hint={`0 to ${graceHours.maximum}. ${hint}`}
    input={{ type: 'number', value: String(graceHours.default), min: 0, max: graceHours.maximum, required: true }}
  />
)

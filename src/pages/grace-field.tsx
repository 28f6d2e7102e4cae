import { graceHours } from '../domain/credential.ts'
import { Field } from './design/field.tsx'

/** The number of hours that was typed, or -1, which the operation refuses. */
export const hoursFrom = (typed: string): number => (/^\d{1,3}$/.test(typed) ? Number(typed) : -1)

/** The hours of a grace period. */
export const GraceField = ({ label, hint }: { readonly label: string; readonly hint: string }) => (
  <Field
    label={label}
    name="graceHours"
    hint={`0 to ${graceHours.maximum}. ${hint}`}
    input={{ type: 'number', value: String(graceHours.default), min: 0, max: graceHours.maximum, required: true }}
  />
)

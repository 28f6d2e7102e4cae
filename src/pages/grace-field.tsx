import { graceHours } from '../domain/credential.ts'
import type { PlatformError } from '../domain/errors.ts'
import { Field } from './design/field.tsx'

/** The number of hours that was typed, or -1, which the operation refuses. */
export const hoursFrom = (typed: string): number => (/^\d{1,3}$/.test(typed) ? Number(typed) : -1)

type GraceFieldProps = {
  readonly label: string
  readonly hint: string
  readonly typed: string | undefined
  readonly error: PlatformError | null
}

/** The hours of a grace period, with what was typed before. */
export const GraceField = ({ label, hint, typed = String(graceHours.default), error }: GraceFieldProps) => (
  <Field
    label={label}
    name="graceHours"
    hint={`0 to ${graceHours.maximum}. ${hint}`}
    error={error}
    input={{ type: 'number', value: typed, min: 0, max: graceHours.maximum, required: true }}
  />
)

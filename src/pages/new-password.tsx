import type { PlatformError } from '../domain/errors.ts'
import { Field } from './design/field.tsx'

/** The fields for a new password. It is never sent back: after a refusal the person types it again. */
export const NewPasswordFields = ({ error }: { readonly error: PlatformError | null }) => (
  <>
    <Field
      label="New password"
      name="password"
      hint="At least 8 characters. A few unrelated words make a good password."
      error={error}
      input={newPassword}
    />
    <Field label="Repeat the new password" name="repeated" error={error} input={newPassword} />
  </>
)

const newPassword = { type: 'password', autocomplete: 'new-password', required: true, maxLength: 1024 } as const

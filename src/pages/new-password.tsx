import { Field } from './design/field.tsx'

/** The fields for a new password. It is never sent back: after a refusal the person types it again. */
export const NewPasswordFields = () => (
  <>
    <Field
      label="New password"
      name="password"
      hint="At least 8 characters. A few unrelated words make a good password."
      input={newPassword}
    />
    <Field label="Repeat the new password" name="repeated" input={newPassword} />
  </>
)

const newPassword = { type: 'password', autocomplete: 'new-password', required: true, maxLength: 1024 } as const

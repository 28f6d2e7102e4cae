import type { PlatformError } from '../../domain/errors.ts'

/** What went wrong with the form below, said first and read out at once. */
export const Problem = ({ error }: { readonly error: PlatformError | null }) =>
  error === null ? null : (
    <p class="problem" role="alert">
      {error.message}
    </p>
  )

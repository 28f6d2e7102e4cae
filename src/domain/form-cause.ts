// Why a form is refused before anything is done with it: what the log and the audit log call it, and what the person reads.

type Words = {
  /** The public address of this server. */
  readonly here: string
  /** The address at which the person opened the page. */
  readonly there: string
}

const again = 'Load its page again and send it from there.'

/** What the person reads of each cause. */
export const formCauses = {
  form_expired: () => `This form was open for too long, and nothing was changed. ${again}`,
  form_of_other_session: () =>
    `This form was made for another session, account or page, and nothing was changed. You may have signed in again since it was shown. ${again}`,
  form_at_other_address: ({ here, there }) =>
    `You opened this page at ${there}, but the address of this server is ${here}. Nothing was changed. Open the page at the right address and send the form from there.`,
  form_from_other_site: ({ here }) =>
    `This form was not sent from a page of ${here}, and nothing was changed. ${again}`,
  form_without_cookie: ({ here }) =>
    `Your browser sent no cookie that this server can read, and nothing was changed. Allow cookies for ${new URL(here).hostname}, or delete those that it has. Then load the page again.`,
} as const satisfies Readonly<Record<string, (words: Words) => string>>

export type FormCause = keyof typeof formCauses

const isFormCause = (value: unknown): value is FormCause =>
  typeof value === 'string' && Object.hasOwn(formCauses, value)

/** The cause that a refusal has in its details; null for another refusal. */
export const formCauseIn = (details: Readonly<Record<string, unknown>> = {}): FormCause | null =>
  isFormCause(details['kind']) ? details['kind'] : null

import { Layout } from './design/shell.tsx'
import { page } from './page.ts'
import type { Visit } from './visit.ts'

type SentBefore = {
  readonly visit: Visit
  readonly section?: 'account' | 'console' | 'desk'
  readonly message?: string
  readonly href: string
  readonly name: string
}

/** The answer to a form that was sent before: nothing was done again, and the link leads to the result. */
export const sentBefore = ({ visit, section = 'console', message = nothingDoneAgain, href, name }: SentBefore) =>
  page(
    <Layout title="Already done" visit={visit} section={section} width="narrow">
      <p>{message}</p>
      <p>
        <a href={href}>{name}</a>
      </p>
    </Layout>,
    { status: 409 },
  )

const nothingDoneAgain = 'This form was sent before, and nothing was done a second time.'

/** What it says about a form whose first answer led to a secret. */
export const secretShownBefore = (advice: string): string =>
  `${nothingDoneAgain} Only the first answer showed the secret. If you did not copy it, ${advice}.`

import { type MailTopic, mailTopics } from '../../domain/mail.ts'
import { chooseMailTopics, readMailTopics } from '../../operations/mails/news.ts'
import { formPage, routes } from '../change.tsx'
import { ChoiceList, ChoiceSet } from '../design/field.tsx'
import { Form, SendButton } from '../design/form.tsx'
import { formOf, texts } from '../form.ts'
import { page, seeOther } from '../page.ts'
import type { Visit } from '../visit.ts'
import { AccountPage, accountPaths } from './account-page.tsx'

const words: Readonly<Record<MailTopic, readonly [name: string, about: string]>> = {
  reviews: ['Reviews of your apps', 'A version was approved or rejected, or an operator asks something about it.'],
  installs: ['Your installs', 'An operator has approved or rejected an install of yours.'],
  endpoints: ['Webhooks of your apps', 'An endpoint was disabled because it failed for too long.'],
  secrets: ['Secrets of your apps', 'A secret that was rotated stops working within a day.'],
  waiting: ['Work for operators', 'Something waits for a decision (at most once an hour), or a question was answered.'],
}

const offeredTo = ({ session }: Visit): readonly MailTopic[] =>
  mailTopics.filter((topic) => topic !== 'waiting' || session.user.isOperator)

const notices = { chosen: 'Your choice is saved.' } as const

/** Which mails a person gets. */
export const mailRoutes = routes(() => [
  formPage(accountPaths.mails, {
    by: 'user',
    effect: 'decides for oneself',
    form: formOf({ topic: texts }),
    show,
    act: async ({ visit, fields }) => {
      await visit.asOwner().do(chooseMailTopics, { chosen: fields.topic, offered: offeredTo(visit) })
      return seeOther(`${accountPaths.mails}?done=chosen`)
    },
  }),
])

const show = async (visit: Visit): Promise<Response> => {
  const { platform } = visit.door
  const chosen = await readMailTopics(platform, visit.userId)
  return page(
    <AccountPage title="Emails" visit={visit} tab={accountPaths.mails} notices={notices}>
      {platform.mailer === null ? (
        <p class="muted">This server sends no emails. Your choice is kept for later.</p>
      ) : null}
      <Form action={accountPaths.mails} visit={visit} class="measure">
        <ChoiceSet legend="Email me about" name="topic">
          <ChoiceList
            name="topic"
            options={offeredTo(visit).map((topic) => [topic, words[topic][0], words[topic][1]])}
            chosen={chosen}
          />
        </ChoiceSet>
        <p class="muted">Emails about how you sign in, and about new secrets and rollbacks, always come.</p>
        <SendButton>Save</SendButton>
      </Form>
    </AccountPage>,
  )
}

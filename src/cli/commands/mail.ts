import type { Command } from 'commander'
import { readMailConfig } from '../../config.ts'
import { writtenLetter } from '../../domain/mail.ts'
import { emailFault, normalizeEmail } from '../../domain/user.ts'
import { createMailer } from '../../runtime/mailer.ts'
import { answer, CommandFailed, recordAnswer, UsageError } from '../output.ts'

export const addMailCommands = (program: Command): void => {
  program
    .command('mail')
    .description('The mail server.')
    .command('test <address>')
    .description('Send a test mail, or say why that fails.')
    .option('--json', 'print exactly one JSON value on stdout')
    .addHelpText(
      'after',
      '\nIt uses SMTP_URL and MAIL_FROM of its own environment, and needs no server and no database.',
    )
    .action(sendTest)
}

const sendTest = async (address: string, flags: { readonly json?: boolean }): Promise<void> => {
  const { mail, platformName } = readMailConfig()
  if (mail === null)
    throw new UsageError('No mail server is set: set SMTP_URL and MAIL_FROM, as app-platform help settings shows.')
  const to = normalizeEmail(address)
  if (to === null) throw new UsageError(emailFault(address))
  const mailer = createMailer(mail, { platformName })
  const letter = {
    subject: `A test of ${platformName}`,
    paragraphs: ['This mail was sent by app-platform mail test. Mails from this server reach you.'],
    link: null,
    after: [],
  }
  const fault = await mailer.send({ to, ...writtenLetter(letter) })
  if (fault !== null) throw new CommandFailed([mailer.explain(fault)])
  answer(flags, recordAnswer({ sent: true, to, from: mail.from.address, host: mail.host, port: mail.port }))
}

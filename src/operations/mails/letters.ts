import type { User } from '../../../db/database.ts'
import type { Letter, MailKind } from '../../domain/mail.ts'
import type { Platform } from '../platform.ts'

/** What a mail says. Plain sentences, so that both its forms say the same. */
export const letterOf = (
  { platformName: platform, publicUrl }: Pick<Platform, 'platformName' | 'publicUrl'>,
  kind: MailKind,
  { name, email }: Pick<User, 'name' | 'email'>,
  link: string,
): Letter => {
  const { subject, says, ifNot } = contents[kind]({ platform, email })
  return {
    subject,
    paragraphs: [`Hello ${name},`, ...says],
    link: { words: 'Set your password', url: link },
    after: [...worksOnce, ifNot, `${platform}, ${publicUrl}`],
  }
}

const worksOnce = [
  'The link works once, for 24 hours. It does not sign you in, and your second factors stay as they are.',
]

type Content = { readonly subject: string; readonly says: readonly string[]; readonly ifNot: string }

const contents: Readonly<Record<MailKind, (of: Readonly<Record<'platform' | 'email', string>>) => Content>> = {
  invitation: ({ platform, email }) => ({
    subject: `Your invitation to ${platform}`,
    says: [`An operator of ${platform} has made an account for you: ${email}. Set a password to begin.`],
    ifNot: 'If you expected no invitation, ignore this mail: nobody can sign in to the account without the password.',
  }),
  reset: ({ platform, email }) => ({
    subject: `Set a new password for ${platform}`,
    says: [`An operator of ${platform} has made a link for you to set a new password for ${email}.`],
    ifNot: 'Your password stays as it is until you use the link.',
  }),
  reset_asked: ({ platform, email }) => ({
    subject: `Set a new password for ${platform}`,
    says: [`Somebody, probably you, has asked for a new password for ${email} at ${platform}.`],
    ifNot: 'If it was not you, ignore this mail: your password stays as it is until the link is used.',
  }),
}

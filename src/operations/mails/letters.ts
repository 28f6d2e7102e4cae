import type { AuditEvent, User } from '../../../db/database.ts'
import { type Letter, type MailKind, type NewsKind, teamMails } from '../../domain/mail.ts'
import type { invitationToMail } from '../apps/members.ts'
import type { OpenChange } from '../decide.ts'
import { noPassword } from '../../domain/password.ts'
import { mayUsePassword, otherSite } from '../../domain/sign-in-rules.ts'
import { storedJson } from '../stored-json.ts'
import type { Platform } from '../platform.ts'

/** What a mail tells. Plain sentences, so that both its forms say the same. */
type Told = {
  readonly platform: string
  readonly origin: string
  readonly email: string
  /** The app that it is about. */
  readonly app: { readonly name: string; readonly slug: string }
  readonly isRotation: boolean
  /** Which versions were swapped by a rollback, and who did it. */
  readonly rollback: { readonly from: string; readonly to: string; readonly by: string } | null
  /** When and from where it was done. */
  readonly circumstances: string
  readonly hasPassword: boolean
  /** Whether a passkey is a way in of its own. */
  readonly entersByPasskey: boolean
  /** What this person does to keep others from signing in as them. */
  readonly secure: string
}

type Content = {
  readonly subject: string
  readonly says: string
  readonly link: Letter['link']
  readonly after: readonly string[]
}

/** Those that tell one person something. */
type LetterKind = Exclude<MailKind, 'app_invitation' | 'condition_began' | 'condition_ended' | NewsKind>

type LetterPlatform = Pick<Platform, 'platformName' | 'publicUrl' | 'signIn' | 'builder'>

/** Makes the letter of a mail. `secretLink` is for a mail that brings one. */
export const letterOf = async (
  { platformName: platform, publicUrl: origin, signIn, builder }: LetterPlatform,
  { q }: Pick<OpenChange, 'q'>,
  kind: LetterKind,
  user: User,
  event: AuditEvent | null,
  secretLink: string,
): Promise<Letter> => {
  const app = event?.appId == null ? null : await q.apps.byId(event.appId)
  const session = kind === 'new_device' ? await q.sessions.find(event?.target ?? '') : null
  const hasPassword = user.passwordHash !== noPassword && mayUsePassword(signIn, user.isOperator)
  const site = otherSite(signIn, builder?.name ?? null, user.isOperator)
  const { subject, says, link, after } = contents[kind]({
    platform,
    origin,
    email: user.email,
    hasPassword,
    entersByPasskey: mayUsePassword(signIn, user.isOperator),
    secure: hasPassword
      ? 'change your password'
      : site === null
        ? 'remove the passkeys that you do not know'
        : `secure your account at ${site}`,
    app: { name: app?.name ?? '(deleted)', slug: app?.slug ?? '' },
    isRotation: event?.action === 'credential.rotated',
    rollback: kind === 'rolled_back' && event !== null ? await rollbackOf(q, event) : null,
    circumstances: circumstancesOf(event, session?.session.agent ?? null),
  })
  return {
    subject,
    paragraphs: [teamMails[kind] === undefined ? `Hello ${user.name},` : 'Hello,', says],
    link: link === null ? null : { ...link, url: link.url === '' ? secretLink : origin + link.url },
    after: [...after, `${platform}, ${origin}`],
  }
}

const rollbackOf = async (q: OpenChange['q'], { appId, target, actorKind, actorId, detail }: AuditEvent) => {
  const { fromVersionId, credentialId }: Readonly<Record<string, string>> = storedJson(detail ?? '{}')
  const nameOf = async (id: string) => (await q.versions.byId(appId ?? '', id))?.version ?? '(removed)'
  const secret = credentialId === undefined ? null : (await q.credentials.find(credentialId))?.credential
  const label = secret?.label == null ? '' : ` (${secret.label})`
  const person = actorKind === 'app' ? null : await q.users.byId(actorId ?? '')
  const by =
    credentialId === undefined ? (person?.name ?? 'an operator') : `the development secret ${credentialId}${label}`
  return { from: await nameOf(fromVersionId ?? ''), to: await nameOf(target ?? ''), by }
}

const circumstancesOf = (event: AuditEvent | null, agent: string | null): string => {
  if (event === null) return ''
  const at = new Date(event.at).toISOString()
  const from = event.address === 'local' ? '' : `, from ${event.address}`
  return `${at.slice(0, 10)} at ${at.slice(11, 16)} UTC${from}${agent === null ? '' : `, with ${agent}`}`
}

/** An empty URL stands for the link that is made when the mail is sent. */
const setPassword = { words: 'Set your password', url: '' }
const worksOnce =
  'The link works once, for 24 hours. Whoever has it can set your password, so pass it on to nobody. Your second factors stay as they are.'
const notYou = (platform: string) => `If it was not you, tell the operator of ${platform} at once.`

const contents: Readonly<Record<LetterKind, (of: Told) => Content>> = {
  invitation: ({ platform, email }) => ({
    subject: `Your invitation to ${platform}`,
    says: `An operator of ${platform} has created an account for you: ${email}. Set a password to start.`,
    link: setPassword,
    after: [
      worksOnce,
      'If you did not expect this invitation, ignore this email. Nobody can sign in without the password.',
    ],
  }),
  reset: ({ platform, email }) => ({
    subject: `Set a new password for ${platform}`,
    says: `An operator of ${platform} has created a link for you to set a new password for ${email}.`,
    link: setPassword,
    after: [worksOnce, 'Your password does not change until you use the link.'],
  }),
  reset_asked: ({ platform, email }) => ({
    subject: `Set a new password for ${platform}`,
    says: `Somebody, probably you, has asked to set a new password for ${email} at ${platform}.`,
    link: setPassword,
    after: [worksOnce, 'If it was not you, ignore this email. Your password does not change until the link is used.'],
  }),
  email_asked: ({ platform, email }) => ({
    subject: `Confirm your email address for ${platform}`,
    says: `Somebody, probably you, has asked to use this email address for the account ${email} at ${platform}.`,
    link: { words: 'Confirm this address', url: '' },
    after: [
      'The link works once, for 24 hours.',
      'If this is not your account, ignore this email. Nothing changes until the link is used.',
    ],
  }),
  new_device: ({ platform, email, circumstances, secure }) => ({
    subject: `New sign-in to ${platform}`,
    says: `${email} has signed in from a new browser: ${circumstances}.`,
    link: { words: 'See your sessions', url: '/account/sessions' },
    after: [`If it was not you, end that session and ${secure}.`],
  }),
  password_changed: ({ platform, email, circumstances }) => ({
    subject: `Your password at ${platform} was changed`,
    says: `A new password was set for ${email} on ${circumstances}. All earlier sessions have ended.`,
    link: null,
    after: [notYou(platform)],
  }),
  email_changed: ({ platform, circumstances, hasPassword }) => ({
    subject: `Your email address at ${platform} was changed`,
    says: `The email address of your account at ${platform} was changed on ${circumstances}. ${hasPassword ? 'You can no longer sign in with this address.' : 'This address gets no more emails about it.'}`,
    link: null,
    after: [notYou(platform)],
  }),
  factor_added: ({ platform, email, circumstances, hasPassword, entersByPasskey, secure }) => ({
    subject: `A second factor was added at ${platform}`,
    says: `A second factor of ${email} was added on ${circumstances}.${hasPassword ? ' A passkey also works without the password, and it stays when the password changes.' : entersByPasskey ? ' A passkey also signs you in by itself.' : ''}`,
    link: { words: 'See your second factors', url: '/account/factors' },
    after: [`If it was not you, remove it there, and ${secure}.`],
  }),
  factor_removed: ({ platform, email, circumstances }) => ({
    subject: `A second factor was removed at ${platform}`,
    says: `A second factor of ${email} was removed on ${circumstances}.`,
    link: { words: 'See your second factors', url: '/account/factors' },
    after: [notYou(platform)],
  }),
  recovery_code_used: ({ platform, email, circumstances, secure }) => ({
    subject: `A recovery code was used at ${platform}`,
    says: `A recovery code of ${email} was used to sign in on ${circumstances}. It does not work a second time.`,
    link: { words: 'See your second factors', url: '/account/factors' },
    after: [`If it was not you, end all your sessions, create new recovery codes, and ${secure}.`],
  }),
  recovery_codes_created: ({ platform, email, circumstances, secure }) => ({
    subject: `New recovery codes were created at ${platform}`,
    says: `New recovery codes of ${email} were created on ${circumstances}. Earlier ones no longer work.`,
    link: { words: 'See your second factors', url: '/account/factors' },
    after: [`If it was not you, create new ones there, and ${secure}.`],
  }),
  identity_changed: ({ platform, email, circumstances }) => ({
    subject: `How you sign in to ${platform} was changed`,
    says: `The account ${email} was linked to an account at another service, or unlinked from one, on ${circumstances}. Whoever has a linked account can sign in with it.`,
    link: null,
    after: [notYou(platform)],
  }),
  secret_made: ({ platform, app, isRotation, circumstances }) => ({
    subject: `${isRotation ? 'Rotated' : 'New'} production secret for an app at ${platform}`,
    says: `A new production secret was created for the app ${app.name} at ${platform} on ${circumstances}.`,
    link: { words: 'See its secrets', url: `/console/${app.slug}/credentials?environment=production` },
    // The members of a team sign in in different ways.
    after: [
      'If nobody on your team created it, revoke it there. Somebody may be signed in as one of you: end the sessions that you do not know, under Account, Sessions.',
    ],
  }),
  rolled_back: ({ platform, app, rollback, circumstances }) => ({
    subject: `An app at ${platform} was rolled back`,
    says: `The app ${app.name} at ${platform} was rolled back from ${rollback?.from} to ${rollback?.to} on ${circumstances}, by ${rollback?.by}. Users get ${rollback?.to} now.`,
    link: { words: 'See its versions', url: `/console/${app.slug}/versions` },
    after: [
      'If nobody on your team did it, revoke that secret. On the page of the app, owners decide whether development secrets may roll back production.',
    ],
  }),
}

/** The letter of an invitation to an app. It is the same whether or not anybody has an account of the address. */
export const invitationLetter = (
  { platformName: platform, publicUrl: origin }: Pick<Platform, 'platformName' | 'publicUrl'>,
  { app, row, inviter, link }: NonNullable<Awaited<ReturnType<typeof invitationToMail>>>,
): Letter => {
  const until = new Date(row.expiresAt).toISOString()
  const offer =
    row.role === 'publisher'
      ? `offers to transfer the app ${app.name} at ${platform} to you.`
      : `invites you to become ${row.role === 'developer' ? 'a' : 'an'} ${row.role} of the app ${app.name} at ${platform}.`
  return {
    // Without the app's name: mails to anybody have no words of strangers in their subject.
    subject: row.role === 'publisher' ? `Take over an app at ${platform}` : `Your invitation to an app at ${platform}`,
    paragraphs: ['Hello,', `${inviter.name} (${inviter.email}) ${offer}`],
    link: { words: 'See the invitation', url: link },
    after: [
      `To accept, sign in as ${row.email}. The link works once, until ${until.slice(0, 10)} at ${until.slice(11, 16)} UTC.`,
      'If you did not expect this invitation, ignore this email. Nothing changes until you accept.',
      `${platform}, ${origin}`,
    ],
  }
}

/** The letter to all operators about a condition that has begun or ended. */
export const conditionLetter = (
  { platformName: platform, publicUrl: origin }: Pick<Platform, 'platformName' | 'publicUrl'>,
  action: string,
  { name, server, sentence }: { readonly name: string; readonly server: string; readonly sentence: string },
): Letter => {
  const hasEnded = action === 'condition.ended'
  const says = hasEnded
    ? `The problem ${name} of the server ${server} is over. It was:`
    : `The server ${server} has a problem:`
  return {
    subject: `${hasEnded ? 'Solved' : 'Problem'} at ${platform}: ${name}`,
    paragraphs: ['Hello,', says, sentence],
    link: { words: 'See the health page', url: `${origin}/desk/health` },
    after: [
      ...(hasEnded ? [] : ['You get another email when it is over.']),
      `You get this email as an operator of ${platform}, ${origin}`,
    ],
  }
}

import { Argument, type Command, InvalidArgumentError, Option } from 'commander'
import type { User } from '../../../db/database.ts'
import { issuerKey } from '../../domain/identity-claims.ts'
import { generatedPassword, generatedPasswordBytes } from '../../domain/password.ts'
import { eraseUser, exportUser, personalDataText } from '../../operations/users/personal-data.ts'
import { linkUser, renameUser, setOperator, setUserEmail, createUser } from '../../operations/users/users.ts'
import { linkIdentity, unlinkIdentity } from '../../operations/users/identities.ts'
import { resetFactors } from '../../operations/factors/change-factors.ts'
import { endUserAccess, endUserSessions } from '../../operations/end-access.ts'
import { listSessionsOfUser } from '../../operations/sessions/own-sessions.ts'
import {
  createResetLink,
  inviteUser,
  type MadeLink,
  confirmUser,
  resetPassword,
} from '../../operations/users/passwords.ts'
import { listUsers, showUser, userAt } from '../../operations/users/find-user.ts'
import { type AppsChoice, type DisabledUser, setUserStatus } from '../../operations/users/set-user-status.ts'
import { type CommonFlags, databaseCommand, operatorCommands } from '../operator-command.ts'
import { asOperator, type OperatorSession, settingsFor } from '../operator-session.ts'
import { answer, listAnswer, recordAnswer, UsageError } from '../output.ts'
import { readPassword } from '../prompt.ts'

export const addUserCommands = (program: Command): void => {
  const group = program.command('user').description('People who sign in: owners of apps and their users.')
  const operator = operatorCommands(group)
  const creation = databaseCommand(group, 'create [email]', 'Create a user.')
    .option('--email <address>', addressText)
    .requiredOption('--name <name>', 'the name that people see')
  addPasswordOptions(creation).option('--operator', 'may review versions and installs').action(create)
  operator('invite [email]', 'Create a user, and print a link with which they set a password.', invite)
    .option('--email <address>', addressText)
    .requiredOption('--name <name>', 'the name that people see')
    .option('--operator', 'may review versions and installs')
    .addHelpText('after', aboutLinks)
  operator(
    'reset-link <email>',
    'Print a link with which a user sets a new password.',
    async (session, email: string) => {
      const { id } = await userAt(session[0], email)
      return linkAnswer(session, await createResetLink(...session, id))
    },
  ).addHelpText('after', aboutLinks)
  operator('disable <email>', 'Disable a user: sessions end, grants stop, their apps are suspended.', disable)
    .addOption(
      new Option('--apps <choice>', 'what happens to their apps: suspend, keep or transfer:EMAIL')
        .choices(['suspend', 'keep', 'transfer:'])
        .argParser(readChoice)
        .default({ kind: 'suspend' }, 'suspend'),
    )
    .addHelpText('after', consequences)
  operator('enable <email>', 'Enable a disabled user: grants that have not expired work again.', enable).addHelpText(
    'after',
    '\nSuspended apps stay suspended: see app activate.',
  )
  addPasswordOptions(
    databaseCommand(group, 'set-password <email>', 'Give a user a new password: the old one and all sessions end.'),
  )
    .addHelpText('after', '\nFor machines without a browser. Give a person a link: see reset-link.')
    .action(setPassword)
  operator(
    'confirm <email>',
    'Let an operator sign in again whom a recovery has suspended.',
    async (session, email: string) => recordAnswer(userRecord(await confirmUser(...session, { email }))),
  ).addHelpText(
    'after',
    '\nThe data may be older than the last change of the rights, the password and the factors of that operator: confirm them' +
      '\nonly if all are still as they should be.',
  )
  operator(
    'reset-factors <email>',
    'Remove the second factors of a user who has lost them, and end their sessions.',
    async (session, email: string) => {
      const { user, endedSessions } = await resetFactors(...session, { email })
      return recordAnswer({ ...userRecord(user), ended: { sessions: endedSessions } })
    },
  ).addHelpText(
    'after',
    '\nThe password stays. If a second factor is required of the user, they set up a new one at the next sign-in.',
  )
  operator(
    'rename <email>',
    'Change the name that people see.',
    async (session, email: string, { name }: { readonly name: string }) =>
      recordAnswer(userRecord(await renameUser(...session, { email, name }))),
  ).requiredOption('--name <name>', 'the new name')
  operator('link <email>', 'Link an account to the same person at the builder or the identity provider.', link)
    .option('--external-id <id>', "the builder's own ID, 1 to 128 visible ASCII characters")
    .option('--issuer <url>', 'the identity provider, as in OIDC_ISSUER')
    .option('--subject <text>', 'the person there: the claim sub')
    .addHelpText(
      'after',
      '\nGive --external-id, or --issuer and --subject. Whoever was linked to the account before at that provider no longer signs in' +
        '\nto it. Sessions stay: see sign-out.',
    )
  operator(
    'unlink <email>',
    'Unlink an account from an identity provider: the person there no longer signs in to it.',
    async (session, email: string, { issuer: place }: { readonly issuer: string }) => {
      const { user, issuer } = await unlinkIdentity(...session, { email, issuer: place })
      return recordAnswer({ ...userRecord(user), issuer }, [
        'The person at this identity provider does not sign in here now, and their address links them to no account, until “user link” links them again.',
        sessionsStay(user.email),
        'With OIDC_LINK_BY_EMAIL=on, another person there who gets this address is linked to this account.',
      ])
    },
  )
    .requiredOption('--issuer <url>', 'the identity provider')
    .addHelpText('after', '\nSessions and the password stay: see sign-out and set-password.')
  operator('export <email>', 'Print everything that is stored about a person.', async ([platform], email: string) => {
    const data = await exportUser(platform, { email })
    return { value: JSON.parse(personalDataText(data)), text: personalDataText(data, 2) }
  })
  operator(
    'erase <email>',
    'Erase a person: ends everything, and removes name, address and picture everywhere.',
    async (session, email: string) => recordAnswer({ ...(await eraseUser(...session, { email })) }),
  ).requiredOption('--yes', 'this cannot be undone')
  operator(
    'set-email <email>',
    'Change the address that a user signs in with. Sessions stay.',
    async (session, email: string, { to }: { readonly to: string }) =>
      recordAnswer(userRecord(await setUserEmail(...session, { email, to }))),
  ).requiredOption('--to <address>', 'the new address')
  operator('set-operator <email>', 'Grant or remove operator rights.', changeOperator).addArgument(
    new Argument('<on|off>', 'the last operator cannot be turned off').choices(['on', 'off']),
  )
  operator(
    'end-access <email>',
    'End all sessions of a user and all that they have allowed to apps.',
    endAccess,
  ).addHelpText('after', '\nThe password stays: see reset-link. Their own apps are not touched: see app end-access.')
  operator(
    'sessions <email>',
    'List where a user is signed in, and when each session was last used.',
    async ([platform], email: string) =>
      listAnswer(await listSessionsOfUser(platform, email), {
        'Last used': 'usedAt',
        From: 'address',
        Browser: 'agent',
        'Signed in': 'createdAt',
        Expires: 'expiresAt',
      }),
  )
  operator('sign-out <email>', 'End all sessions of a user. What they have allowed to apps stays.', signOutUser)
  operator(
    'show <email>',
    'Show a user: their apps, second factors and where they sign in.',
    async ([platform], email: string) => recordAnswer(await showUser(platform, email)),
  )
  operator('list', 'List every user.', async ([platform]) =>
    listAnswer((await listUsers(platform)).map(userRecord), {
      Email: 'email',
      Name: 'name',
      Status: 'status',
      Operator: 'operator',
      Suspended: 'suspendedAt',
      'External ID': 'externalId',
      Created: 'createdAt',
      ID: 'id',
    }),
  )
}

const aboutLinks =
  '\nThe link works once, for 24 hours, and begins with PUBLIC_URL. Give it to the person over a channel that you trust.' +
  '\nTheir password and second factors stay as they are until they use it. A newer link ends it.'

type LinkFlags = { readonly externalId?: string; readonly issuer?: string; readonly subject?: string }

const link = async (session: OperatorSession, email: string, { externalId, issuer: place, subject }: LinkFlags) => {
  if (externalId !== undefined && place === undefined && subject === undefined) {
    const { createdAt, updatedAt, pictureUrl: _, ...user } = await linkUser(...session, { email, externalId })
    return recordAnswer({ ...user, createdAt, updatedAt })
  }
  if (externalId !== undefined || place === undefined || subject === undefined) {
    throw new UsageError('Give --external-id, or --issuer and --subject.')
  }
  const { user, issuer, replaced } = await linkIdentity(...session, { email, issuer: place, subject })
  const { signIn, issuer: ofSettings } = await settingsFor(session[0].database)
  const isOther = ofSettings !== null && issuerKey(ofSettings) !== issuer
  return recordAnswer({ ...userRecord(user), issuer, subject, replaced }, [
    ...(replaced === 0
      ? []
      : ['Whoever was linked before no longer signs in to this account.', sessionsStay(user.email)]),
    ...(isOther || !signIn.ways.includes('oidc')
      ? [`They can sign in once SIGN_IN names oidc and OIDC_ISSUER is ${issuer}.`]
      : []),
  ])
}

const sessionsStay = (email: string): string => `Sessions stay. To end them: app-platform user sign-out ${email}`

type AddressFlag = { readonly email?: string }

const addressText = 'the address to sign in with, if it is not the argument'

/** @throws UsageError unless the address is given once */
const addressOf = (email: string | undefined, flag: string | undefined): string => {
  const address = email ?? flag
  if (address !== undefined && (email === undefined || flag === undefined)) return address
  throw new UsageError('Name the address of the user once: as the argument, or with --email.')
}

type InviteFlags = AddressFlag & { readonly name: string; readonly operator?: boolean }

const invite = async (session: OperatorSession, named: string | undefined, flags: InviteFlags) => {
  const { name, operator: isOperator = false } = flags
  return linkAnswer(session, await inviteUser(...session, { email: addressOf(named, flags.email), name, isOperator }))
}

const linkAnswer = async ([platform]: OperatorSession, { user, link, expiresAt }: MadeLink) => {
  const { mailer, publicUrl } = platform
  const isLocal = (await settingsFor(platform.database)).publicUrl === null
  const advice = [
    ...(mailer === null ? [] : [`The server also mails a link of its own to ${user.email}.`]),
    ...(isLocal ? [`PUBLIC_URL is not set: the link leads to ${publicUrl}.`] : []),
  ]
  const { value } = recordAnswer({ ...userRecord(user), link, expiresAt }, advice.length === 0 ? undefined : advice)
  const until = new Date(expiresAt).toISOString().replace(/^(.{10})T(.{5}).*$/, '$1 $2 UTC')
  const told = `A link with which ${user.name} (${user.email}) sets a password. It works once, until ${until}:`
  return { value, text: [...advice, told, link].join('\n') }
}

/** A user without the password hash. */
const userRecord = ({ id, email, name, isOperator, status, suspendedAt, externalId, createdAt, updatedAt }: User) => ({
  id,
  email,
  name,
  operator: isOperator,
  status,
  suspendedAt,
  externalId,
  createdAt,
  updatedAt,
})

/** The source of a new password. */
type PasswordFlags = CommonFlags & { readonly passwordStdin?: boolean; readonly generatePassword?: boolean }

const addPasswordOptions = (command: Command): Command =>
  command
    .option('--password-stdin', 'read the password from standard input')
    .option('--generate-password', 'generate a strong password and print it once')
    .addHelpText('after', '\nOne of --password-stdin and --generate-password is needed; a password is never a flag.')

/**
 * Prints the record that the work makes of a new password, with the password if it was generated. A typed one is read
 * before the database is opened.
 * @throws UsageError unless exactly one source was chosen
 */
const withPassword = async (
  flags: PasswordFlags,
  work: (session: OperatorSession, password: string) => Promise<object>,
): Promise<void> => {
  if ((flags.passwordStdin === true) === (flags.generatePassword === true)) {
    throw new UsageError('Give one of --password-stdin and --generate-password.')
  }
  const typed = flags.passwordStdin === true ? await readPassword() : null
  const record = await asOperator(flags, async (session) => {
    const [{ random }] = session
    const password = typed ?? generatedPassword(random.bytes(generatedPasswordBytes))
    return { ...(await work(session, password)), ...(typed === null ? { password } : {}) }
  })
  answer(flags, recordAnswer(record))
}

type CreateFlags = PasswordFlags & AddressFlag & { readonly name: string; readonly operator?: boolean }

const create = async (named: string | undefined, flags: CreateFlags): Promise<void> => {
  const { name, operator: isOperator = false } = flags
  const email = addressOf(named, flags.email)
  await withPassword(flags, async (session, password) =>
    userRecord(await createUser(...session, { email, name, password, isOperator })),
  )
}

const setPassword = async (email: string, flags: PasswordFlags): Promise<void> => {
  await withPassword(flags, async (session, password) => {
    const { id: userId } = await userAt(session[0], email)
    const { user, endedSessions } = await resetPassword(...session, { userId, password })
    return { ...userRecord(user), ended: { sessions: endedSessions } }
  })
}

const consequences = `
All of it is decided in one step. suspend: none of their apps works until app activate. keep: the apps go on
without an active owner. transfer:EMAIL: another active user owns them from now on; their secrets stay as they are.
A user who is disabled already can be disabled again with another choice.`

const readChoice = (text: string): AppsChoice => {
  if (text === 'suspend' || text === 'keep') return { kind: text }
  const email = /^transfer:(.+)$/.exec(text)?.[1]
  if (email === undefined) throw new InvalidArgumentError('Give suspend, keep or transfer:EMAIL.')
  return { kind: 'transfer', email }
}

const disable = async (session: OperatorSession, email: string, { apps }: { readonly apps: AppsChoice }) => {
  const disabled = await setUserStatus(...session, { email, status: 'disabled', apps })
  const { user, ...facts } = disabled
  return recordAnswer({ ...userRecord(user), ...facts }, adviceAfterDisabling(disabled))
}

const adviceAfterDisabling = ({ user, stopped, apps }: DisabledUser): readonly string[] => [
  ...(stopped.grants === 0
    ? []
    : [`Grants work again when the user is enabled. To end them: app-platform user end-access ${user.email}`]),
  ...(apps.suspended.length === 0
    ? []
    : ['Suspended apps stay suspended when the user is enabled. To activate one: app-platform app activate SLUG']),
  ...(apps.kept.length === 0
    ? []
    : ['Kept apps work without an active owner. To hand one over: app-platform app transfer SLUG --to EMAIL']),
  ...(apps.transferred.length === 0 ? [] : adviceAfterTransfer),
]

/** The previous owner knows the secrets. */
export const adviceAfterTransfer: readonly string[] = [
  'The previous owner may know the client secrets. To replace one: app-platform credential rotate CLIENT_ID --grace-hours 0',
  'Tokens and grants stay. To end them: app-platform app end-access SLUG',
]

const enable = async (session: OperatorSession, email: string) => {
  const { user, apps } = await setUserStatus(...session, { email, status: 'active' })
  const { suspended } = apps
  const advice = suspended.map((slug) => `Still suspended. To activate it: app-platform app activate ${slug}`)
  return recordAnswer({ ...userRecord(user), apps: { suspended } }, advice)
}

const changeOperator = async (session: OperatorSession, email: string, state: 'on' | 'off') => {
  const { id: userId } = await userAt(session[0], email)
  return recordAnswer(userRecord(await setOperator(...session, { userId, isOperator: state === 'on' })))
}

const signOutUser = async (session: OperatorSession, email: string) => {
  const { user, sessions } = await endUserSessions(...session, { email })
  return recordAnswer({ ...userRecord(user), ended: { sessions } }, [passwordStays(user.email)])
}

const passwordStays = (email: string): string =>
  `The password still works. To replace it: app-platform user reset-link ${email}`

const endAccess = async (session: OperatorSession, email: string) => {
  const { user, apps, ended } = await endUserAccess(...session, { email })
  return recordAnswer({ ...userRecord(user), ended }, [
    passwordStays(user.email),
    ...apps.map(({ slug }) => `Their own app was not touched. To end its access: app-platform app end-access ${slug}`),
  ])
}

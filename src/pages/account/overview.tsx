import { isStrongSignIn } from '../../domain/second-factor.ts'
import { listSessions } from '../../operations/sessions/own-sessions.ts'
import { type Factors, factorsOf } from '../../operations/factors/factors.ts'
import { Avatar } from '../design/avatar.tsx'
import { IconTile } from '../design/icon.tsx'
import { Row, RowList } from '../design/row-list.tsx'
import { ChosenName } from '../design/values.tsx'
import { page } from '../page.ts'
import type { Visit } from '../visit.ts'
import { AccountPage, accountPaths } from './account-page.tsx'
import { signInWords } from '../sign-in-words.tsx'
import { pageFor } from '../change.tsx'

/** More sessions than this are shown as "or more". */
const countedSessions = 50

/** The first page of the account: who is signed in, and what else the account has. */
export const accountOverviewRoutes = pageFor('user', accountPaths.overview, async (visit) => {
  const [factors, sessions] = await Promise.all([
    factorsOf(visit.door.platform, visit.userId),
    listSessions(visit.door.platform, visit.session, { limit: countedSessions, cursor: null }),
  ])
  const others = sessions.data.filter(({ isCurrent }) => !isCurrent).length
  const words = signInWords(visit)
  const hasMore = sessions.nextCursor !== null
  return page(
    <AccountPage title="Account" visit={visit} tab={accountPaths.overview}>
      <div class="profile">
        <Avatar id={visit.userId} name={visit.session.user.name} />
        <div>
          <p>
            <ChosenName name={visit.session.user.name} />
          </p>
          <p class="muted">
            <bdi>{visit.session.user.email}</bdi>
          </p>
        </div>
      </div>
      <RowList
        label="Your account"
        rows={
          [
            {
              href: accountPaths.sessions,
              name: 'Sessions',
              icon: 'screen',
              fact: sessionsSentence(others, hasMore),
            },
            {
              href: accountPaths.email,
              name: 'Email address',
              icon: 'mail',
              fact: words.email,
            },
            ...(visit.session.user.hasPassword
              ? [{ href: accountPaths.password, name: 'Password', icon: 'lock', fact: passwordSentence } as const]
              : []),
            {
              href: accountPaths.factors,
              name: 'Second factors',
              icon: 'shield',
              fact: factorsSentence(visit, factors),
            },
          ] as const
        }
        row={({ href, name, icon, fact }) => (
          <Row href={href} avatar={<IconTile name={icon} />} title={name} facts={[fact]} />
        )}
      />
      <p class="muted">Only the operator of this server can change your name.</p>
    </AccountPage>,
  )
})

const passwordSentence = 'Change it if somebody else may know it.'

const factorsSentence = (visit: Visit, { totp, passkeys }: Factors): string => {
  const { alone } = signInWords(visit)
  if (totp === null && passkeys.length === 0) return `${capitalized(alone)} enough to sign in.`
  if (!asksForFactor(visit)) return 'The site that you sign in through asks for its own. Here you are not asked.'
  if (passkeys.length > 0) return `Signing in needs a passkey${totp === null ? '' : ' or your authenticator app'}.`
  return 'Signing in needs your authenticator app.'
}

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** Whether one of the ways in which this person can sign in is followed by a second factor. */
const asksForFactor = ({ door: { platform }, session }: Visit): boolean =>
  session.user.hasPassword || platform.signIn.ways.some((way) => !isStrongSignIn(platform.signIn, way, null))

const sessionsSentence = (others: number, hasMore: boolean): string => {
  if (others === 0) return 'You are signed in here and nowhere else.'
  if (hasMore) return `You are signed in here and in ${others} or more other places.`
  return `You are signed in here and in ${others === 1 ? 'one other place' : `${others} other places`}.`
}

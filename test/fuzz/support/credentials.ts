import { formTicket } from '../../../src/domain/form-ticket.ts'
import { rowKey } from '../../../src/domain/identifier.ts'
import { setAppStatus } from '../../../src/operations/apps/apps.ts'
import { revokeByClient } from '../../../src/operations/oauth/revoke.ts'
import { signIn } from '../../support/sign-in.ts'
import { setUserStatus } from '../../../src/operations/users/set-user-status.ts'
import { addEmbeddedInstall, embedOrigin, exchangeInstallCode, openInstall } from '../../support/embedding.ts'
import { operator, trace } from '../../support/operator.ts'
import { serverKeyIn } from '../../support/server-key-in.ts'
import { formsIn, type PageForm } from '../../pages/support/page-forms.ts'
import { plainBrowser } from '../../pages/support/plain-browser.ts'
import { siteMap, type Who } from '../../pages/support/site-map.ts'
import { createStockedWorld, type StockedWorld } from '../../pages/support/stocked-world.ts'
import {
  addApp,
  addUser,
  type AppInWorld,
  appToken,
  authorize,
  exchange,
  installApp,
  type Login,
} from '../../support/world.ts'
import { cookieNamed } from '../../support/cookie.ts'

/** A form of a page. */
export type FoundForm = PageForm & { readonly who: Who }

const findForms = async (world: StockedWorld): Promise<readonly FoundForm[]> => {
  const found = new Map<string, FoundForm>()
  for (const who of ['user', 'operator'] as const) {
    const browser = plainBrowser(world.server.url)
    browser.cookies.set('session', (await signIn(world.platform, trace, world[who])).sessionToken)
    const pages = siteMap.filter((site) => site.who === who).flatMap(({ paths }) => paths(world))
    const seen = await Promise.all(pages.map(async (page) => await browser.get(page)))
    for (const form of seen.flatMap(({ text }) => formsIn(text))) found.set(form.action, { ...form, who })
  }
  return [...found.values()]
}

/** A server whose pages show every kind of record, and an app and a user that only programs act for. */
export type FuzzWorld = StockedWorld & {
  /** The forms of the pages, as they were before there was anything that is not the pages' to end. */
  readonly forms: readonly FoundForm[]
  readonly api: {
    readonly user: Login
    readonly app: AppInWorld
    readonly otherApp: AppInWorld
    readonly installId: string
  }
}

export const createFuzzWorld = async (): Promise<FuzzWorld> => {
  const world = await createStockedWorld()
  const forms = await findForms(world)
  const { platform } = world
  const user = await addUser(platform, 'Programmed Example')
  const app = await addApp(platform, user)
  const installId = await addEmbeddedInstall(platform, app, user)
  await installApp(platform, app, user)
  return { ...world, forms, api: { user, app, otherApp: await addApp(platform, user), installId } }
}

/** What markers in a draft stand for. */
export type Credentials = {
  /** `action` is the path of the form that a ticket is for, `bound` what it binds. */
  of(name: string, action: string, bound: readonly string[]): Promise<string>
}

type Source = () => Promise<string>

/** Live credentials. Those that are single use, or that the request itself may end, are created each time. */
export const makeCredentials = async (world: FuzzWorld): Promise<Credentials> => {
  const { server, platform, api } = world
  const { url } = server
  await reviveVictims(world)
  const sessionOf = async (login: Login) => (await signIn(platform, trace, login)).sessionToken
  const session = await sessionOf(api.user)
  const kept = await sessionOf(api.user) // never sent by a draft, so that nothing ends it
  const pageSession = await sessionOf(world.user)
  const operatorSession = await sessionOf(world.operator)
  const newGrant = async () => (await exchange(url, api.app, await authorize(url, kept, api.app))).body
  const grant = await newGrant()
  const ended = await appToken(url, api.app.development)
  await revokeByClient(platform, trace, api.app.development, ended)

  const opened = async () => await openInstall(platform, kept, api.installId)
  const embedded = await exchangeInstallCode(url, {
    clientId: api.app.production.clientId,
    code: await opened(),
    origin: embedOrigin(api.app),
  })
  const lasting: Readonly<Record<string, string>> = {
    session,
    pageSession,
    operatorSession,
    appToken: await appToken(url, api.app.development),
    liveAppToken: await appToken(url, api.app.production),
    userToken: grant.accessToken,
    embedded: embedded.body.sessionToken,
    endedToken: ended,
    clientSecret: api.app.development.clientSecret,
    liveSecret: api.app.production.clientSecret,
    otherSecret: api.otherApp.development.clientSecret,
    password: api.user.password,
  }
  const fresh: Readonly<Record<string, Source>> = {
    code: async () => await authorize(url, kept, api.app),
    refreshToken: async () => (await newGrant()).refreshToken,
    freshUserToken: async () => (await newGrant()).accessToken,
    freshAppToken: async () => await appToken(url, api.app.development),
    freshSession: async () => await sessionOf(api.user),
    installCode: opened,
    grantId: async () => (await newGrant()).grantId,
  }
  const ticket = async (holder: string, action: string, bound: readonly string[]) =>
    formTicket(
      { server: await serverKeyIn(server.database), browser: holder },
      { action, bound },
      rowKey(platform.random.uuid(platform.clock.now())),
    )
  return {
    of: async (name, action, bound) => {
      if (name === 'sessionCookieName') return cookieNamed(url, 'session')
      if (name === 'pageTicket') return await ticket(pageSession, action, bound)
      if (name === 'operatorTicket') return await ticket(operatorSession, action, bound)
      const value = lasting[name] ?? (await fresh[name]?.())
      if (value === undefined) throw new Error(`There is no secret called ${name}.`)
      return value
    },
  }
}

/** The forms of the pages do end things: their user is restored, so that more can be ended. */
const reviveVictims = async ({ platform, user, operator: victim, app }: FuzzWorld): Promise<void> => {
  for (const { email } of [user, victim]) await setUserStatus(platform, trace, operator, { email, status: 'active' })
  await setAppStatus(platform, trace, operator, { slug: app.slug, status: 'active' })
}

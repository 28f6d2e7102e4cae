import type { DemoCredentials } from '../../operations/demo/seed-demo.ts'
import walk from './walk.sh' with { type: 'text' }

/** Everything that a newcomer needs, in the order of need: who can sign in, what to set, what to paste. */
export const demoText = (url: string, database: string, demo: DemoCredentials): string => {
  const logins = demo.users.map(
    ({ email, password, operator }) => `  ${email}  ${password}${operator ? '  (operator)' : ''}`,
  )
  const apps = demo.apps.flatMap(({ slug, development, production }) => [
    `  ${slug}, development: ${development.clientId}  ${development.clientSecret}`,
    `  ${slug}, production:  ${production.clientId}  ${production.clientSecret}`,
  ])
  return [
    `App Platform with a fresh demo is at ${url}; the API is described at ${url}/docs.`,
    `Operator commands reach it with --database ${database}`,
    '',
    'Logins (shown once):',
    ...logins,
    '',
    'Client IDs and secrets (shown once):',
    ...apps,
    '',
    ...webhook(demo),
    '# ---- paste these lines into another terminal, then the walk below them ----',
    ...walkSettings(url, demo),
    '',
    walk,
  ].join('\n')
}

const webhook = ({ webhook: endpoint }: DemoCredentials): string[] =>
  endpoint === null
    ? []
    : [
        `Webhooks: ${endpoint.url} is told what happens to ${endpoint.app} in production. It stands for the app's backend`,
        'inside this program, and prints what it takes below the walk. Try its ping in the console.',
        '',
      ]

/** The app with the approved install, and the user who has it. */
const walkSettings = (url: string, demo: DemoCredentials): string[] => {
  const install = demo.installs.find(({ approval }) => approval === 'approved')
  const app = demo.apps.find(({ slug }) => slug === install?.app)
  const user = demo.users.find(({ email }) => email === install?.user)
  if (app === undefined || user === undefined) throw new Error('the demo has no approved install')
  return [
    `BASE=${url}`,
    `CLIENT_ID=${app.development.clientId}`,
    `CLIENT_SECRET=${app.development.clientSecret}`,
    `REDIRECT_URI=${app.development.redirectUri}`,
    `EMAIL=${user.email}`,
    `PASSWORD=${user.password}`,
  ]
}

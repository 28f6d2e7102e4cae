import changelog from './changelog.md' with { type: 'text' }
import clientLibrary from './develop/client-library.md' with { type: 'text' }
import commandLine from './develop/command-line.md' with { type: 'text' }
import errors from './develop/errors.md' with { type: 'text' }
import firstApp from './develop/first-app.md' with { type: 'text' }
import oauthLibraries from './develop/oauth-libraries.md' with { type: 'text' }
import signInLibraries from './develop/sign-in-libraries.md' with { type: 'text' }
import webhookEvents from './develop/webhook-events.md' with { type: 'text' }
import wireFormats from './develop/wire-formats.md' with { type: 'text' }
import frames from './integrate/frames.md' with { type: 'text' }
import managementApi from './integrate/management-api.md' with { type: 'text' }
import signIn from './integrate/sign-in.md' with { type: 'text' }
import sitesAndStores from './integrate/sites-and-stores.md' with { type: 'text' }
import yourApi from './integrate/your-api.md' with { type: 'text' }
import backupAndRestore from './operate/backup-and-restore.md' with { type: 'text' }
import capacity from './operate/capacity.md' with { type: 'text' }
import highAvailability from './operate/high-availability.md' with { type: 'text' }
import installation from './operate/installation.md' with { type: 'text' }
import monitoring from './operate/monitoring.md' with { type: 'text' }
import moving from './operate/moving.md' with { type: 'text' }
import postgresql from './operate/postgresql.md' with { type: 'text' }
import privacy from './operate/privacy.md' with { type: 'text' }
import proxy from './operate/proxy.md' with { type: 'text' }
import remoteCommands from './operate/remote-commands.md' with { type: 'text' }
import settings from './operate/settings.md' with { type: 'text' }
import troubleshooting from './operate/troubleshooting.md' with { type: 'text' }
import upgrade from './operate/upgrade.md' with { type: 'text' }
import users from './operate/users.md' with { type: 'text' }

/** A guide. `help` prints its text, and /docs/guides shows it as a page. */
type Guide = {
  /** The name of its file, which is unique. */
  readonly topic: string
  readonly title: string
  readonly text: string
}

const area = (name: string, texts: Readonly<Record<string, string>>) => ({
  name,
  guides: Object.entries(texts).map(([topic, text]): Guide => ({
    topic,
    title: /^# (.+)$/m.exec(text)?.[1] ?? topic,
    text,
  })),
})

/** All guides by reader, in the order in which they are listed. */
export const guideAreas = [
  area('Operate a server', {
    installation: installation,
    proxy: proxy,
    settings: settings,
    users: users,
    'remote-commands': remoteCommands,
    'backup-and-restore': backupAndRestore,
    upgrade: upgrade,
    moving: moving,
    postgresql: postgresql,
    'high-availability': highAvailability,
    monitoring: monitoring,
    capacity: capacity,
    privacy: privacy,
    troubleshooting: troubleshooting,
  }),
  area('Connect your builder', {
    'sign-in': signIn,
    'management-api': managementApi,
    'your-api': yourApi,
    'sites-and-stores': sitesAndStores,
    frames: frames,
  }),
  area('Develop an app', {
    'first-app': firstApp,
    'wire-formats': wireFormats,
    'oauth-libraries': oauthLibraries,
    'sign-in-libraries': signInLibraries,
    'webhook-events': webhookEvents,
    'command-line': commandLine,
    'client-library': clientLibrary,
    errors: errors,
  }),
  area('Releases', { changelog }),
] as const

/** The guide to a topic; null if there is none. */
export const findGuide = (topic: string): Guide | null =>
  guideAreas.flatMap(({ guides }) => guides).find((guide) => guide.topic === topic) ?? null

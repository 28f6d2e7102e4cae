import { dirname, relative } from 'node:path'
import { UsageError } from '../output.ts'
import timerTemplate from './backup-timer.txt' with { type: 'text' }
import { type Deployment, fill, refuseShared, secretLines, stateFolder } from './deployment.ts'
import sandboxTemplate from './sandbox.txt' with { type: 'text' }
import serviceTemplate from './systemd.txt' with { type: 'text' }

/** A systemd service (systemd.exec(5)) with every restriction that a program with one port and one file can bear. */
export const systemdUnit = (deployment: Deployment): string => {
  const { file, program, secrets } = deployment
  return fill(serviceTemplate, {
    steps: installSteps(deployment).join('\n'),
    afterDatabase: file === null ? ' postgresql.service' : '',
    program: word(program),
    environment: environmentLines(deployment).join('\n'),
    environmentFile: secrets.length > 0 ? `EnvironmentFile=${environmentFile}` : '', // only root can read it
    home: [...(file === null ? [] : [home(dirname(file))]), ...homesAt(deployment)].join('\n'),
    sandbox: sandbox(deployment),
  })
}

const environmentFile = '/etc/app-platform.env'

const installSteps = ({
  file,
  installFrom,
  program,
  port,
  publicUrl,
  trustsProxies,
  secrets,
}: Deployment): readonly string[] => [
  'Keep this as /etc/systemd/system/app-platform.service, then, as root:',
  '  useradd --system --no-create-home --shell /usr/sbin/nologin app-platform',
  ...(installFrom === null ? [] : [`  install -m 0755 ${word(installFrom)} ${word(program)}`]),
  ...(secrets.length > 0
    ? [`  test -e ${environmentFile} || install -m 0600 /dev/null ${environmentFile}`, `  ${secretLines(secrets)}`]
    : []),
  '  systemctl daemon-reload && systemctl enable --now app-platform',
  'Commands need the same DATABASE_URL. As root:',
  file === null
    ? `  (set -a; . ${environmentFile}; ${word(program)} check)`
    : `  ${word(program)} check --database ${Bun.$.escape(file)}`,
  ...(publicUrl === null ? [`PUBLIC_URL is not set: clients are told http://localhost:${port}.`] : []),
  ...(publicUrl?.protocol === 'https:' && !trustsProxies
    ? ['TRUSTED_PROXIES is not set: behind a proxy all clients would share one rate limit.']
    : []),
]

/** Quotes a text so that systemd takes it literally (systemd.syntax(7)). */
const quoted = (text: string): string =>
  `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%').replaceAll('\n', '\\n')}"`

/** Quotes a word of a command line, where a dollar sign would begin a variable. */
const word = (text: string): string => (/^[\w./-]+$/.test(text) ? text : quoted(text.replaceAll('$', '$$$$')))

const environmentLines = ({ settings }: Deployment): readonly string[] =>
  settings.map(([name, value]) => `Environment=${quoted(`${name}=${value}`)}`)

/** Folders besides that of the database. */
const homesAt = ({ places }: Deployment): readonly string[] =>
  places
    .filter(({ use }) => use === 'writes')
    .map(({ path }) => home(path, 'backups', `${stateFolder}/${backupFolder}`))

/** A warning for each file that a setting names and a service cannot see. */
export const unseenFiles = ({ places }: Deployment): readonly string[] =>
  places
    .filter(({ path, use }) => use === 'reads' && isUnseen(path))
    .map(
      ({ setting, path }) =>
        `A service cannot see the file of ${setting} in ${dirname(path)}: move it, such as to /etc.`,
    )

/**
 * A folder that the service may write to. systemd creates it if it is in the folder for services' state.
 * @throws UsageError for a folder that the service cannot see
 */
const home = (
  folder: string,
  what = 'a database',
  example = `--database ${stateFolder}/app-platform/app-platform.db`,
): string => {
  if (isUnseen(folder)) {
    throw new UsageError(
      `A service cannot see ${what} in ${folder}: choose a place in ${stateFolder}, such as ${example}.`,
    )
  }
  refuseShared(folder, what, example)
  const name = relative(stateFolder, folder)
  if (name !== '' && !name.startsWith('..')) return `StateDirectory=${quoted(name)}\nStateDirectoryMode=0700`
  return `# Make it first: install -d -m 0700 -o app-platform -g app-platform ${word(folder)}\nReadWritePaths=${quoted(folder)}`
}

/** The service has folders of its own in place of these. */
const isUnseen = (path: string): boolean => /^\/(home|root|run\/user|tmp|var\/tmp)(\/|$)/.test(path)

/** AF_UNIX and AF_NETLINK are needed to look up names. */
const sandbox = ({ port }: Deployment): string =>
  fill(sandboxTemplate, {
    capabilities:
      port < 1024
        ? 'CapabilityBoundingSet=CAP_NET_BIND_SERVICE\nAmbientCapabilities=CAP_NET_BIND_SERVICE'
        : 'CapabilityBoundingSet=\nPrivateUsers=yes',
  }).trimEnd()

const kept = 14
const backupFolder = 'app-platform-backups'

/** A systemd service that backs up, checks and prunes, and its timer (systemd.timer(5)); and the same as a cron line. */
export const backupTimer = (deployment: Deployment): string => {
  const { file, program, secrets } = deployment
  const place = `${stateFolder}/${backupFolder}`
  const command = `${word(program)} backup ${place} --keep ${kept} --check`
  const isSecret = secrets.includes('DATABASE_URL')
  return fill(timerTemplate, {
    place,
    folder: backupFolder,
    command,
    // Only root can read the file with the URL of PostgreSQL.
    cron: isSecret
      ? `17 3 * * * root set -a; . ${environmentFile}; exec ${command} >/dev/null`
      : `17 3 * * * app-platform ${databaseVariables(deployment)} ${command} >/dev/null`,
    environment: environmentLines(deployment)
      .filter((line) => /^Environment="DATABASE_URL(_FILE)?=/.test(line))
      .join('\n'),
    environmentFile: isSecret ? `EnvironmentFile=${environmentFile}` : '',
    home: file === null ? '' : home(dirname(file)),
    sandbox: sandbox({ ...deployment, port: unprivilegedPort }),
  })
}

/** A backup listens on none. */
const unprivilegedPort = 3000

/** In a crontab a percent sign ends the command unless it is escaped (crontab(5)). */
const databaseVariables = ({ settings }: Deployment): string =>
  settings
    .filter(([name]) => name === 'DATABASE_URL' || name === 'DATABASE_URL_FILE')
    .map(([name, value]) => `${name}='${value.replaceAll('%', String.raw`\%`).replaceAll("'", String.raw`'\''`)}'`)
    .join(' ')

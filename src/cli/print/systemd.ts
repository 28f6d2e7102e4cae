import { dirname, relative } from 'node:path'
import { onlyForFiles } from '../operator-command.ts'
import { UsageError } from '../output.ts'
import { type Deployment, secretLines, stateFolder } from './deployment.ts'

/** A systemd service (systemd.exec(5)) with every restriction that a program with one port and one file can bear. */
export const systemdUnit = (deployment: Deployment): string => `# ${installSteps(deployment).join('\n# ')}

[Unit]
Description=App Platform
After=network-online.target${deployment.file === null ? ' postgresql.service' : ''}
Wants=network-online.target

[Service]
Type=exec
ExecStart=${word(deployment.program)} serve
${environmentLines(deployment).join('\n')}
User=app-platform
Group=app-platform
${placeOf(deployment).join('\n')}
UMask=0077
Restart=always
RestartSec=1
# After SIGTERM the server finishes running requests within 10 s. A hanging job and a locked database may each take 5 s more.
TimeoutStopSec=30
LimitNOFILE=65536
# A core dump could contain secrets.
LimitCORE=0

${sandbox(deployment).join('\n')}
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
SystemCallErrorNumber=EPERM
# MemoryDenyWriteExecute= is left out: JavaScript is compiled to machine code while it runs.

[Install]
WantedBy=multi-user.target
`

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

/** The file with the secret settings, which only root can read, and the folder of the database file. */
const placeOf = ({ file, secrets }: Deployment): readonly string[] => [
  ...(secrets.length > 0 ? [`EnvironmentFile=${environmentFile}`] : []),
  ...(file === null ? [] : home(file)),
]

/**
 * The only folder that the service may write to. systemd creates it if it is in the folder for services' state.
 * @throws UsageError for a folder that the service cannot see
 */
const home = (file: string): readonly string[] => {
  const folder = dirname(file)
  if (/^\/(home|root|run\/user|tmp|var\/tmp)(\/|$)/.test(folder)) {
    throw new UsageError(
      `A service cannot see a database in ${folder}: choose one in ${stateFolder}, such as --database ${stateFolder}/app-platform/app-platform.db.`,
    )
  }
  const name = relative(stateFolder, folder)
  if (name !== '' && !name.startsWith('..')) return [`StateDirectory=${quoted(name)}`, 'StateDirectoryMode=0700']
  return [
    `# Make it first: install -d -m 0700 -o app-platform -g app-platform ${word(folder)}`,
    `ReadWritePaths=${quoted(folder)}`,
  ]
}

const sandbox = ({ port }: Deployment): readonly string[] => [
  'NoNewPrivileges=yes',
  'ProtectSystem=strict',
  ...yes('ProtectHome', 'PrivateTmp', 'PrivateDevices', 'ProtectHostname', 'ProtectClock', 'ProtectKernelTunables'),
  ...yes('ProtectKernelModules', 'ProtectKernelLogs', 'ProtectControlGroups', 'RestrictNamespaces', 'RestrictRealtime'),
  ...yes('RestrictSUIDSGID', 'LockPersonality', 'RemoveIPC'),
  'ProtectProc=invisible',
  'KeyringMode=private',
  'RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK', // the last two are needed to look up names
  ...(port < 1024
    ? ['CapabilityBoundingSet=CAP_NET_BIND_SERVICE', 'AmbientCapabilities=CAP_NET_BIND_SERVICE']
    : ['CapabilityBoundingSet=', 'PrivateUsers=yes']),
]

const yes = (...names: readonly string[]): readonly string[] => names.map((name) => `${name}=yes`)

const kept = 14
const folder = 'app-platform-backups'

/** A systemd service that backs up, checks and prunes, and its timer (systemd.timer(5)); and the same as a cron line. */
export const backupTimer = (deployment: Deployment): string => {
  if (deployment.file === null) throw new UsageError(onlyForFiles)
  const place = `/var/lib/${folder}`
  const command = `${word(deployment.program)} backup ${place} --keep ${kept} --check`
  return `# As root, app-platform print backup-timer --to /etc/systemd/system writes these two files. Then:
#   systemctl daemon-reload && systemctl enable --now app-platform-backup.timer
#   systemctl start app-platform-backup && ls -l ${place}
# Copy the newest file to another machine as well. Without systemd, as /etc/cron.d/app-platform-backup:
#   17 3 * * * app-platform DATABASE_URL=${databaseUrl(deployment)} ${command} >/dev/null
# where ${place} must be created first: install -d -m 0700 -o app-platform -g app-platform ${place}

# ---- app-platform-backup.service
[Unit]
Description=Backup of App Platform

[Service]
Type=oneshot
ExecStart=${command}
${environmentLines(deployment)
  .filter((line) => line.includes('DATABASE_URL='))
  .join('\n')}
User=app-platform
Group=app-platform
${home(deployment.file).join('\n')}
StateDirectory=${folder}
StateDirectoryMode=0700
UMask=0077
Nice=10
IOSchedulingClass=idle
LimitCORE=0

${sandbox(deployment).join('\n')}
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged
SystemCallErrorNumber=EPERM

# ---- app-platform-backup.timer
[Unit]
Description=Daily backup of App Platform

[Timer]
OnCalendar=*-*-* 03:17:00
RandomizedDelaySec=10min
Persistent=true

[Install]
WantedBy=timers.target
`
}

/** In a crontab a percent sign ends the command unless it is escaped (crontab(5)). */
const databaseUrl = ({ settings }: Deployment): string =>
  `'${(settings.find(([name]) => name === 'DATABASE_URL')?.[1] ?? '').replaceAll('%', String.raw`\%`).replaceAll("'", String.raw`'\''`)}'`

import type { Deployment } from './deployment.ts'
import { environment, home, sandbox, word } from './systemd-unit.ts'

const kept = 14
const folder = 'app-platform-backups'

/** Two units of systemd: what backs up, checks and prunes, and when (systemd.timer(5)). And the same as a line of cron. */
export const backupTimer = (deployment: Deployment): string => {
  const place = `/var/lib/${folder}`
  const command = `${word(deployment.program)} backup ${place} --keep ${kept} --check`
  return `# Keep the first part as /etc/systemd/system/app-platform-backup.service and the second one as
# /etc/systemd/system/app-platform-backup.timer, then, as root:
#   systemctl daemon-reload && systemctl enable --now app-platform-backup.timer
#   systemctl start app-platform-backup && ls -l ${place}
# Bring the newest file to another machine as well. Without systemd, as /etc/cron.d/app-platform-backup:
#   17 3 * * * app-platform DATABASE_URL=${databaseUrl(deployment)} ${command} >/dev/null
# where ${place} has to be made first: install -d -m 0700 -o app-platform -g app-platform ${place}

# ---- app-platform-backup.service
[Unit]
Description=Backup of App Platform

[Service]
Type=oneshot
ExecStart=${command}
${environment(deployment)
  .filter((line) => line.includes('DATABASE_URL='))
  .join('\n')}
User=app-platform
Group=app-platform
${home(deployment).join('\n')}
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

/** In cron a percent sign ends the command unless a backslash is before it (crontab(5)). */
const databaseUrl = ({ settings }: Deployment): string =>
  `'${(settings.find(([name]) => name === 'DATABASE_URL')?.[1] ?? '').replaceAll('%', String.raw`\%`).replaceAll("'", String.raw`'\''`)}'`

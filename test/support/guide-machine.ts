import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { marked } from './documents.ts'
import { programAt } from './needs.ts'
import { programCommand } from './program.ts'
import { startServer } from './running-server.ts'
import { temporaryFolder } from './temporary-folder.ts'

const clusterCommand = ['pg_ctlcluster', '--skip-systemctl-redirect']

type GuideOptions = {
  readonly publicUrl: string
  /** Whether the PostgreSQL admits connections from its own machine, as Debian's does: all come from there. */
  readonly isLocal: boolean
  /** Where `scp` copies to. */
  readonly copiesTo?: { readonly folder: string }
}

/**
 * Where the command blocks of a guide run: an address of the loopback network, with a PostgreSQL as Debian makes it.
 * Blocks run as they are written, as root, but for this: `/etc` and `/var/lib` are folders of the machine, `/usr/local/bin` has the
 * program under test, packages and users are there already, no service is started, and the values are `values`.
 */
export const startGuideMachine = async (
  address: string,
  values: string,
  { publicUrl, isLocal, copiesTo }: GuideOptions,
) => {
  const version = basename(dirname(dirname(programAt('postgres')))) // as the folders of Debian name it
  const folder = temporaryFolder()
  chmodSync(folder, 0o755)
  for (const path of ['bin', 'run', 'etc/systemd/system', 'etc/nginx/conf.d'])
    mkdirSync(join(folder, path), { recursive: true })
  chmodSync(join(folder, 'run'), 0o777)
  const standIn = (name: string, script: string) =>
    writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  for (const name of ['apt-get', 'useradd', 'systemctl']) standIn(name, 'exit 0')
  standIn('pg_ctlcluster', `exec /usr/bin/pg_ctlcluster --skip-systemctl-redirect "$@"`)
  standIn('app-platform', `exec ${programCommand.join(' ')} "$@"`)
  standIn('scp', `cp -r "$2" ${copiesTo?.folder}/etc/`)
  const env = {
    PATH: `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`,
    PG_CLUSTER_CONF_ROOT: join(folder, 'etc/postgresql'),
    PGHOST: join(folder, 'run'),
  }
  const inFolder = (text: string) => text.replaceAll(/(?<![\w>}])\/(etc|var\/lib)\//g, `${folder}/$1/`)
  const shell = async (script: string): Promise<string> => {
    const child = Bun.spawn(['bash', '-euxc', script], { cwd: '/', env, stdout: 'pipe', stderr: 'pipe' })
    const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
    if ((await child.exited) !== 0) throw new Error(`A block of the guide failed: ${stdout}${stderr}`)
    return stdout
  }
  const data = join(folder, 'var/lib/postgresql', version, 'main')
  const stop = [...clusterCommand, '-m', 'immediate', version, 'main', 'stop'].join(' ')
  await shell(
    `pg_createcluster ${version} main --datadir ${data} --socketdir ${folder}/run --logfile ${folder}/log --port 5432 \\
       --encoding UTF8 --locale C.UTF-8 -o external_pid_file=${folder}/run/pid >/dev/null
     sed -i '${isLocal ? '' : '/^host/d'}' ${folder}/etc/postgresql/${version}/main/pg_hba.conf
     echo "listen_addresses = '${address}'" > ${folder}/etc/postgresql/${version}/main/conf.d/00-address.conf
     pg_ctlcluster ${version} main start`,
  )
  // A test runner that is killed runs no handlers; then the end of this pipe stops the server.
  Bun.spawn(['sh', '-c', `cat; ${stop}`], { env, stdin: 'pipe', stdout: 'ignore', stderr: 'ignore' }).unref()
  return {
    folder,
    /** Runs a block of the guide after its values, and returns what it printed. */
    run: async (text: string, block: string) => {
      const commands = marked(text, block)
        .replace(/^```sh\n/, '')
        .replace(/```\n$/, '')
      return await shell(
        [`HERE=${address} V=${version}`, values, inFolder(commands)]
          .join('\n')
          .replaceAll('https://apps.example.com', publicUrl)
          .replaceAll('@localhost/', `@${address}/`)
          // Connections within the loopback network come from its first address.
          .replaceAll('$host/32', '127.0.0.1/32'),
      )
    },
    /** Reads a file that a block has written. */
    read: (path: string) => readFileSync(inFolder(path), 'utf8'),
    /** Starts the service as the written unit describes it. */
    serve: async () => {
      const unit = readFileSync(join(folder, 'etc/systemd/system/app-platform.service'), 'utf8')
      const settings = Object.fromEntries(
        [...unit.matchAll(/^Environment="([A-Z_]+)=(.*)"$/gm)].map(([, name = '', value = '']) => [name, value]),
      )
      const kept = readFileSync(join(folder, 'etc/app-platform.env'), 'utf8')
      const [, database = ''] = /^DATABASE_URL='(.*)'$/m.exec(kept) ?? []
      return await startServer({ database, env: settings, port: Number(settings['PORT']) })
    },
    /** Ends PostgreSQL without a word. */
    kill: () => {
      const [pid = ''] = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')
      process.kill(Number(pid), 'SIGKILL')
    },
    stop: () => void Bun.spawnSync(['sh', '-c', stop], { env }),
  }
}

import { expect } from 'bun:test'
import { realpathSync } from 'node:fs'
import { freePort } from '../clients/support/free-port.ts'
import { run } from '../cli/support/run.ts'
import { needs, programAt } from '../support/needs.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { builtProgram } from './support/built-program.ts'

// What a container is made of, without a program that runs containers: namespaces, a read-only root and another user.
const { test } = needs('unshare as root', 'setpriv')

/** A shell with mounts and processes of its own, which end with it. */
const inNamespaces = (script: string) => {
  const child = Bun.spawn(['unshare', '--mount', '--pid', '--fork', '--kill-child', 'sh', '-euc', script], {
    cwd: '/',
    env: { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin' },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const ended = Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text(), child.exited])
  return { child, ended }
}

test('the printed container serves: another user, a read-only file system, one folder, and health as its check', async () => {
  const port = freePort()
  const printed = await run(['print', 'container', '--public-url', 'https://apps.example.com', '--port', String(port)])
  const settings = /^ENV (.+)$/m.exec(printed.stdout)?.[1] ?? ''
  const [, uid = ''] = /^USER (\d+):/m.exec(printed.stdout) ?? []
  const folder = /^VOLUME \["(.+)"\]$/m.exec(printed.stdout)?.[1] ?? ''
  const setpriv = realpathSync(programAt('setpriv')) // a link in /tmp would be gone below
  const asUser = `env -i PATH=/usr/local/bin ${settings} ${setpriv} --reuid ${uid} --regid ${uid} --clear-groups --no-new-privs --bounding-set -all`
  const { ended } = inNamespaces(`
    mount -t tmpfs tmpfs /usr/local/bin && cp ${await builtProgram()} /usr/local/bin/app-platform
    mount -t tmpfs tmpfs /var/lib && install -d -m 0700 -o ${uid} -g ${uid} ${folder}
    mount -t tmpfs -o exec,mode=1777 tmpfs /tmp && mount -t proc proc /proc && mount -o remount,bind,ro /
    ! touch /etc/written 2>/dev/null
    ${asUser} app-platform health && exit 3
    ${asUser} app-platform serve & server=$!
    until ${asUser} app-platform health 2>/dev/null; do kill -0 $server; sleep 0.1; done
    stat -c '%U %a %n' ${folder}/app-platform.db
    kill -TERM $server && wait $server`)
  const [stdout, , exitCode] = await ended
  expect(stdout).toContain(`The server on 127.0.0.1:${port} is ready.\n`)
  expect(stdout).toContain(`UNKNOWN 600 ${folder}/app-platform.db\n`)
  expect(exitCode).toBe(0)
})

test('on a machine without a library that bcrypt needs, the program names the library and its package', async () => {
  const root = temporaryFolder()
  const program = await builtProgram()
  const copied = (without: string) =>
    inNamespaces(`
      mount -t tmpfs tmpfs ${root} && cd ${root} && mkdir -p dev proc tmp data
      cp ${program} app-platform && mount --rbind /dev dev && mount -t proc proc proc
      for library in $(ldd ${program} | grep -o '/[^ ]*') /lib/*-linux-gnu/libgcc_s.so.1 /lib/*-linux-gnu/librt.so.1; do
        case $library in *${without}*) ;; *) install -D "$library" ".$library" ;; esac
      done
      exec chroot . /app-platform serve --port 0 --database /data/app.db`).ended
  const library = {
    libgcc_s: /^error: [^\n]+ no libgcc_s\.so\.1\. [^\n]+: libgcc-s1 on Debian[^\n]+\n$/,
    librt: /^error: [^\n]+ no librt\.so\.1\. [^\n]+: libc6 on Debian[^\n]+\n$/,
  }
  for (const [name, says] of Object.entries(library)) {
    const [stdout, stderr, exitCode] = await copied(name)
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 1 })
    expect(
      stderr
        .split('\n')
        .filter((line) => line.startsWith('error:'))
        .map((line) => `${line}\n`)
        .join(''),
    ).toMatch(says)
  }
})

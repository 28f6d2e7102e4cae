/**
 * After a fault nothing may be closed. Closing the last connection copies the WAL, whose state on disk is unknown, into
 * the database, and then removes a -wal by its name, which by then may belong to another file. Bun would close them all
 * as the process exits, so it does not get that far: the process ends by SIGKILL, and the next start recovers as after
 * any kill.
 */
export const abandon = (connections: readonly unknown[]): void => {
  if (abandoned.length === 0) process.once('exit', () => process.kill(process.pid, 'SIGKILL'))
  abandoned.push(...connections)
}
const abandoned: unknown[] = []

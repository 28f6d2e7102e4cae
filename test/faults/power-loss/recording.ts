/** What a process did to the disk, in order, and what it acknowledged in between. */
export type DiskEvent =
  | { readonly kind: 'create'; readonly file: string }
  | { readonly kind: 'write'; readonly file: string; readonly offset: number; readonly bytes: Buffer }
  | { readonly kind: 'truncate'; readonly file: string; readonly size: number }
  | { readonly kind: 'unlink'; readonly file: string }
  /** Covers what was written before the event at index `since`, when the call began. */
  | { readonly kind: 'sync'; readonly path: string; readonly since: number }
  | { readonly kind: 'acknowledge'; readonly id: string }

const calls = 'openat,pwrite64,fsync,fdatasync,ftruncate,unlink,unlinkat,write'
const path = (hex: string | undefined): string => unhex(hex ?? '').toString()
const unhex = (text: string): Buffer => Buffer.from(text.replaceAll(String.raw`\x`, ''), 'hex')

/** Present, and allowed to trace. */
export const straceWorks = (): boolean =>
  Bun.which('strace') !== null && Bun.spawnSync(['strace', '-f', '-qq', '-o', '/dev/null', 'true']).exitCode === 0

/** Runs a command under strace and gives what it and its children did in `folder`. */
export const record = async (
  command: readonly string[],
  folder: string,
  log: string,
): Promise<readonly DiskEvent[]> => {
  const traced = Bun.spawn(
    ['strace', '-f', '-qq', '--seccomp-bpf', '-y', '-xx', '-s', '70000', '-e', `trace=${calls}`, '-o', log, ...command],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  )
  await traced.exited
  return eventsOf(await Bun.file(log).text(), folder)
}

/** Reads a log. A call that another thread interrupted stands on two lines and counts where each of them stands. */
export const eventsOf = (log: string, folder: string): readonly DiskEvent[] => {
  const events: DiskEvent[] = []
  const begun = new Map<string, { readonly text: string; readonly since: number }>()
  const within = (path: string) => path.startsWith(`${folder}/`) && !path.endsWith('-shm')
  for (const line of log.split('\n')) {
    const [, thread = '', rest = ''] = /^(\d+) +(.*)$/.exec(line) ?? []
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest)
    const unfinished = rest.endsWith(' <unfinished ...>') ? rest.slice(0, -' <unfinished ...>'.length) : null
    const opening = resumed ? null : (unfinished ?? rest)
    const promise = opening === null ? null : acknowledgementOf(opening)
    if (promise) events.push(promise)
    if (unfinished !== null) {
      begun.set(thread, { text: unfinished, since: events.length })
      continue
    }
    const start = resumed ? begun.get(thread) : { text: rest, since: events.length }
    const event = start ? eventOf(resumed ? start.text + (resumed[1] ?? '') : rest, start.since) : null
    if (event && (event.kind === 'sync' ? within(event.path) || event.path === folder : within(event.file)))
      events.push(event)
  }
  return events
}

/** Counts from its first moment: the client may have it while the call still runs. */
const acknowledgementOf = (text: string): DiskEvent | null => {
  const bytes = /^write\(1<[^>]*>, "((?:\\x..)*)"/.exec(text)?.[1]
  const id = bytes === undefined ? undefined : /^ack (\S+)\n$/.exec(unhex(bytes).toString())?.[1]
  return id === undefined ? null : { kind: 'acknowledge', id }
}

type FileEvent = Exclude<DiskEvent, { readonly kind: 'acknowledge' }>

const eventOf = (text: string, since: number): FileEvent | null => {
  const opened = /^openat\(.*\|O_CREAT.*\) += \d+<((?:\\x..)*)>/.exec(text)
  if (opened) return { kind: 'create', file: path(opened[1]) }
  const wrote = /^pwrite64\(\d+<((?:\\x..)*)>, "((?:\\x..)*)", \d+, (\d+)\) += (\d+)/.exec(text)
  if (wrote) {
    const bytes = unhex(wrote[2] ?? '').subarray(0, Number(wrote[4]))
    return { kind: 'write', file: path(wrote[1]), offset: Number(wrote[3]), bytes }
  }
  const cut = /^ftruncate\(\d+<((?:\\x..)*)>, (\d+)\) += 0/.exec(text)
  if (cut) return { kind: 'truncate', file: path(cut[1]), size: Number(cut[2]) }
  const synced = /^f(?:data)?sync\(\d+<((?:\\x..)*)>\) += 0/.exec(text)
  if (synced) return { kind: 'sync', path: path(synced[1]), since }
  const removed = /^unlink(?:at)?\((?:AT_FDCWD<[^>]*>, )?"((?:\\x..)*)".*\) += 0/.exec(text)
  if (removed) return { kind: 'unlink', file: path(removed[1]) }
  return null
}

/**
 * Where each command may run. The server, the command line, its help and the guide follow this table. Over the network runs nothing
 * that touches the account of an operator or makes one, shows a secret, reads or writes files, or works on a stopped database.
 *
 * - `here`: only on the machine itself, or, as the commands of developers, with a way of its own to the server.
 * - `reads` and `changes`: over the network too. A change names no operator: see `beginCommand`.
 * - `hands over`: a change of who has an app, which must not belong to an operator either.
 */
export const commandPlaces = {
  serve: 'here',
  dev: 'here',
  health: 'here',
  'print systemd': 'here',
  'print backup-timer': 'here',
  'print caddy': 'here',
  'print nginx': 'here',
  'print container': 'here',
  'print alerts': 'here',
  completion: 'here',
  'completion-values': 'here',
  migrate: 'here',
  check: 'reads',
  backup: 'here',
  restore: 'here',
  recover: 'here',
  move: 'here',
  'clock reset': 'here',
  purge: 'changes',
  seed: 'here',
  'user create': 'here',
  'user invite': 'here',
  'user reset-link': 'here',
  'user disable': 'here',
  'user enable': 'here',
  'user set-password': 'here',
  'user confirm': 'here',
  'user reset-factors': 'here',
  'user rename': 'here',
  'user link': 'here',
  'user unlink': 'here',
  'user export': 'here',
  'user erase': 'here',
  'user set-email': 'here',
  'user set-operator': 'here',
  'user end-access': 'here',
  'user sessions': 'here',
  'user sign-out': 'here',
  'user show': 'here',
  'user list': 'reads',
  'app create': 'changes',
  'app suspend': 'changes',
  'app activate': 'changes',
  'app transfer': 'hands over',
  'app end-access': 'changes',
  'app delete': 'hands over',
  'app undelete': 'hands over',
  'app set-scopes': 'changes',
  'app rename': 'changes',
  'app show': 'reads',
  'app rollback-rule': 'changes',
  'app unhide': 'changes',
  'app hide': 'changes',
  'app publisher': 'changes',
  'app members': 'reads',
  'app member add': 'hands over',
  'app member role': 'hands over',
  'app member remove': 'hands over',
  'app list': 'reads',
  'credential create': 'here',
  'credential rotate': 'here',
  'credential revoke': 'changes',
  'credential confirm': 'here',
  'credential list': 'reads',
  'redirect add': 'changes',
  'redirect remove': 'changes',
  'redirect list': 'reads',
  'install create': 'changes',
  'install approve': 'changes',
  'install reject': 'changes',
  'install deactivate': 'changes',
  'install list': 'reads',
  'resource import': 'here',
  'review submit': 'changes',
  'review withdraw': 'changes',
  'review approve': 'changes',
  'review activate': 'changes',
  'review reject': 'changes',
  'review list': 'reads',
  'endpoint add': 'here',
  'endpoint list': 'reads',
  'endpoint enable': 'changes',
  'endpoint disable': 'changes',
  'endpoint remove': 'changes',
  'endpoint rotate': 'here',
  'endpoint ping': 'changes',
  'endpoint attempts': 'reads',
  'endpoint resend': 'changes',
  'scope add': 'changes',
  'scope list': 'reads',
  'scope retire': 'changes',
  'scope give': 'changes',
  'scope take': 'changes',
  'service-key create': 'here',
  'service-key list': 'here',
  'service-key rotate': 'here',
  'service-key revoke': 'here',
  'service-key confirm': 'here',
  'mail test': 'here',
  'audit list': 'reads',
  login: 'here',
  logout: 'here',
  whoami: 'here',
  'versions list': 'here',
  'versions delete': 'here',
  'versions show': 'here',
  'versions create': 'here',
  'versions rollback': 'here',
  'installs list': 'here',
  'webhooks list': 'here',
  'webhooks ping': 'here',
  'webhooks attempts': 'here',
  'webhooks resend': 'here',
  'dev-certificate': 'here',
} as const satisfies Readonly<Record<string, Place>>

type Place = RemotePlace | 'here'
/** What a command does that runs over the network. */
type RemotePlace = 'reads' | 'changes' | 'hands over'

const places: ReadonlyMap<string, Place> = new Map(Object.entries(commandPlaces))

/** What the command of this name does over the network; null if it runs only here. */
export const remotePlaceOf = (command: string): RemotePlace | null => {
  const place = places.get(command) ?? 'here'
  return place === 'here' ? null : place
}

/** The words of a command line that name a command, and its name; null if they are none of the table. */
export const commandIn = (words: readonly string[]) => {
  const lengths = [1, 2, 3].filter((length) => words.slice(0, length).every((word) => /^[a-z-]+$/.test(word)))
  const name = lengths.map((length) => words.slice(0, length).join(' ')).find((one) => places.has(one))
  return name === undefined
    ? null
    : { name, place: remotePlaceOf(name), arguments: words.slice(name.split(' ').length) }
}

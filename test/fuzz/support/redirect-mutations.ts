import type { Chance } from './operation.ts'

type Way = (uri: string, chance: Chance) => string

const glyphs = [
  ...'/?#&=@:;%\\.*-_~aZ0 é\t\n\r\0\u202e\u200b\u3002\uff0f\u2044\u0130\u017f\ufeff',
  '\ud800',
  '\u{1f600}',
  '%00',
  '%2e',
  '%2f',
  '%5c',
  '%0d%0a',
  '%u002f',
  '%ff',
]
const strange = ['evil.example', '127.0.0.1', '[::1]', 'localhost', 'evil.example:443', 'xn--e1awd7f.example']

const pick = (chance: Chance, from: readonly string[]): string => from[chance(from.length)] ?? ''
const cut = (uri: string, chance: Chance): readonly [before: string, letter: string, after: string] => {
  const at = chance(uri.length + 1)
  return [uri.slice(0, at), uri[at] ?? '', uri.slice(at + 1)]
}
const hostOf = (uri: string): string => uri.slice('https://'.length).split(/[:/?#]/, 1)[0] ?? ''
const onHost = (uri: string, change: (host: string) => string): string => uri.replace(hostOf(uri), change(hostOf(uri)))
const hex = (letter: string): string => letter.charCodeAt(0).toString(16).padStart(2, '0')
/** Letters that some parser takes for the plain one. */
const lookalikes: Readonly<Record<string, string>> = {
  a: 'а',
  e: 'е',
  o: 'о',
  p: 'р',
  c: 'с',
  s: 'ſ',
  k: 'K',
  i: 'ı',
  '.': '。',
  '/': '／',
  ':': '：',
  '-': '‐',
}

/** What has led servers astray: case, encodings, dots, ports, user info, fragments, suffixes, look-alikes, backslashes, traversal, parameters. */
const ways: readonly Way[] = [
  (uri, chance) => {
    const [before, letter, after] = cut(uri, chance)
    return before + pick(chance, glyphs) + letter + after
  },
  (uri, chance) => {
    const [before, , after] = cut(uri, chance)
    return before + pick(chance, glyphs) + after
  },
  (uri, chance) => {
    const [before, , after] = cut(uri, chance)
    return before + after
  },
  (uri, chance) => {
    const [before, letter, after] = cut(uri, chance)
    return before + letter + letter + after
  },
  (uri, chance) => {
    const [before, letter, after] = cut(uri, chance)
    return before + (chance(2) === 0 ? letter.toUpperCase() : letter.toLowerCase()) + after
  },
  (uri, chance) => {
    const [before, letter, after] = cut(uri, chance)
    return letter === '' ? `${uri}%` : `${before}%${hex(letter)}${after}`
  },
  (uri, chance) => {
    const [before, letter, after] = cut(uri, chance)
    return letter === '' ? `${uri}%25` : `${before}%25${hex(letter)}${after}`
  },
  (uri, chance) => {
    const [before, letter, after] = cut(uri, chance)
    return before + (lookalikes[letter] ?? `${letter}\u0301`) + after
  },
  (uri, chance) =>
    uri.replace(
      'https',
      pick(chance, [
        'http',
        'HTTPS',
        'httpss',
        'javascript',
        'data',
        'myapp',
        ' https',
        'https:https',
        'view-source:https',
        'ws',
      ]),
    ),
  (uri, chance) => uri.replace('://', pick(chance, [':/', ':', ':///', ':\\\\', '://\\', ':/\\/', '%3a//', ':////'])),
  (uri, chance) =>
    onHost(uri, (host) =>
      pick(chance, [
        `${host}.`,
        `.${host}`,
        `${host}..`,
        `www.${host}`,
        `${host}.evil.example`,
        `evil-${host}`,
        `${host}evil.example`,
        host.toUpperCase(),
        host.replaceAll('.', '%2e'),
        `${host}%00.evil.example`,
        `${host}%23`,
        host.replace('.', '..'),
      ]),
    ),
  (uri, chance) =>
    onHost(
      uri,
      (host) =>
        host +
        pick(chance, [':443', ':80', ':', ':0443', ':+443', ':443443', ':0', ':99999', ':443:443', ':x', ':４４３']),
    ),
  (uri, chance) =>
    onHost(uri, (host) => pick(chance, ['@', 'a@', 'a:b@', `${pick(chance, strange)}@`, ':@', '%40', 'a%40']) + host),
  (uri, chance) =>
    onHost(
      uri,
      (host) =>
        `${host}${pick(chance, ['@', '\\@', '#@', '?@', '/@', '%40', ':443@', '&@', ';@'])}${pick(chance, strange)}`,
    ),
  (uri, chance) => onHost(uri, () => pick(chance, strange)),
  (uri, chance) =>
    uri +
    pick(chance, [
      '#',
      '#x',
      '?',
      '&',
      '/',
      '//',
      '\\',
      '%20',
      ' ',
      '.',
      ';x=y',
      '/..',
      '/.',
      '/%2e%2e',
      '..;/',
      '*',
      '/*',
      '?code=x',
      '&code=x',
      '?state=x',
      '&iss=x',
      '?error=x',
      '%0d%0aLocation:https://evil.example',
      '\r\nLocation: https://evil.example',
      '\0',
      '\n',
    ]),
  (uri, chance) =>
    uri.replace(/\/[^/?]*(?=\?|$)/, (segment) =>
      pick(chance, [
        `/.${segment}`,
        `/x/..${segment}`,
        `/%2e${segment}`,
        `/%2e%2e/x${segment}`,
        `/${segment}`,
        `\\${segment.slice(1)}`,
        `/..;${segment}`,
        `${segment}/../..${segment}`,
        '',
        '/',
      ]),
    ),
  (uri, chance) => uri.replace(/[^/]*$/, (end) => [...end].toReversed().join('') + pick(chance, ['', '/', '?', 'x'])),
  (uri, chance) =>
    pick(chance, [
      ' ',
      '\t',
      '\n',
      '\ufeff',
      '\0',
      '<',
      '"',
      '[',
      'url=',
      '//',
      'https://evil.example/',
      'https://evil.example?u=',
      'https://evil.example#',
      'javascript://',
    ]) + uri,
  (uri, chance) =>
    `${uri}${pick(chance, [',', ' ', '|', '\n', ';', '\0', '&redirect_uri=', '&redirectUri='])}${pick(chance, ['https://evil.example/', uri, 'x'])}`,
  (uri, chance) => uri + pick(chance, ['x', '/x', '%2f']).repeat(1 + chance(900)),
  (uri, chance) => `https://${pick(chance, strange)}/${uri.slice(chance(uri.length))}`,
]

/** So many different URIs, none of them one of the registered, by one to three steps from one of these. */
export const redirectMutants = (registered: readonly string[], count: number, chance: Chance): ReadonlySet<string> => {
  const mutants = new Set<string>()
  while (mutants.size < count) {
    let mutant = pick(chance, registered)
    for (let steps = 1 + chance(chance(4) + 1); steps > 0; steps -= 1)
      mutant = ways[chance(ways.length)]?.(mutant, chance) ?? mutant
    if (!registered.includes(mutant)) mutants.add(mutant)
  }
  return mutants
}

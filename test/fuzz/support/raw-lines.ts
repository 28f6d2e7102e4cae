import { get, line, post, type Row } from './raw-case.ts'

export const headers: readonly Row[] = [
  ...[
    ['a folded header', 'X-A: b\r\n c'],
    ['a bare LF in a header', 'X-A: b\nX-B: c'],
    ['a bare CR in a header', 'X-A: b\rX-B: c'],
    ['NUL in a value', 'X-A: a\0b'],
    ['NUL in a name', 'X\0A: b'],
    ['a control character in a value', 'X-A: \x01'],
    ['a header without a name', ': b'],
    ['a header without a colon', 'abc'],
    ['a space before a colon', 'X-A : b'],
    ['a name beyond ASCII', 'X-\xe9: b'],
  ].map(([what = '', header = '']): Row => [what, (inner) => get(header) + inner, [400], 'refused']),
  ['a fold in the first header', (inner) => `GET /healthz HTTP/1.1\r\n Host: a\r\n\r\n${inner}`, [400], 'refused'],
  ['no Host', (inner) => `GET /healthz HTTP/1.1\r\n\r\n${inner}`, [400], 'refused'],
  ['two Hosts, which we refuse', () => get('Host: b'), [400], 'one request'],
  ['two equal Hosts, which we refuse', () => get('Host: a'), [400], 'one request'],
  ['200 headers', (inner) => get(...Array.from({ length: 199 }, (_, at) => `X-${at}: y`)) + inner, [431], 'refused'],
  ['190 headers', () => get(...Array.from({ length: 189 }, (_, at) => `X-${at}: y`)), [200], 'one request'],
  ['bytes beyond ASCII in a value are let through', () => get('X-A: \xe9\xff'), [200], 'one request'],
  ['Connection: Host takes no header away', () => get('Connection: Host, X-Service-Api-Version'), [200], 'one request'],
]

export const requestLines: readonly Row[] = [
  ...[
    ['HTTP/0.9', 'GET /healthz', 505],
    ['HTTP/1.2', 'GET /healthz HTTP/1.2', 505],
    ['HTTP/2 in words', 'GET /healthz HTTP/2.0', 505],
    ['a version in small letters', 'GET /healthz http/1.1', 505],
    ['NUL in the path', 'GET /heal\0thz HTTP/1.1', 505],
    ['a space in the path', 'GET /heal thz HTTP/1.1', 505],
    ['tabs instead of spaces', 'GET\t/healthz\tHTTP/1.1', 505],
    ['two spaces', 'GET  /healthz HTTP/1.1', 400],
    ['a path that does not begin', 'GET healthz HTTP/1.1', 400],
    ['an asterisk', 'OPTIONS * HTTP/1.1', 400],
    ['200 KiB of path', `GET /${'a'.repeat(200_000)} HTTP/1.1`, 431],
  ].map(([what, text, status]): Row => [
    String(what),
    (inner) => line(String(text)) + inner,
    [Number(status)],
    'refused',
  ]),
  ['the first words of HTTP/2', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [400], 'refused'],
  ['the first bytes of TLS', () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', [400], 'refused'],
  ['lines that end with a bare LF', () => 'GET /healthz HTTP/1.1\nHost: a\n\n', [505], 'refused'],
  ['an empty line first (RFC 9112 section 2.2 would let it pass)', (inner) => `\r\n${get()}${inner}`, [400], 'refused'],
  ['a method that nobody knows', (inner) => line('FOO /healthz HTTP/1.1') + inner, [], 'refused'],
  [
    'CONNECT to elsewhere is a path that is none',
    () => line('CONNECT evil.example:443 HTTP/1.1'),
    [404],
    'one request',
  ],
  ['TRACE tells nothing back', () => line('TRACE /healthz HTTP/1.1', 'X-A: b'), [405], 'one request'],
  [
    'an absolute URL of another host is answered by its path',
    () => line('GET http://evil.example/healthz HTTP/1.1'),
    [200],
    'one request',
  ],
  ['a path beyond ASCII is none', () => line('GET /healthz\xe9 HTTP/1.1'), [404], 'one request'],
  ['100 KiB of query', () => line(`GET /healthz?${'a=b&'.repeat(25_000)} HTTP/1.1`), [200], 'one request'],
  ['HTTP/1.0 gets one answer', (inner) => line('GET /healthz HTTP/1.0') + inner, [200], 'refused'],
]

export const promises: readonly Row[] = [
  [
    'Expect: 100-continue is granted',
    () => `${post('Expect: 100-continue', 'Content-Length: 2')}{}`,
    [100, 400],
    'one request',
  ],
  [
    'Expect: 100-continue for a body that is too large',
    () => post('Expect: 100-continue', 'Content-Length: 99999999'),
    [100, 413],
    'one request',
  ],
  [
    'an Expect that nobody knows is ignored',
    () => `${post('Expect: something', 'Content-Length: 2')}{}`,
    [400],
    'one request',
  ],
  [
    'Upgrade: websocket is not taken',
    (inner) =>
      get(
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      ) + inner,
    [200, 201],
    'two requests',
  ],
  [
    'Upgrade: h2c is not taken',
    () => get('Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__'),
    [200],
    'one request',
  ],
]

import { chunk, chunked, get, last, line, post, type Row } from './raw-case.ts'

/** Two lengths of one body: the inner request begins where one of them ends. */
export const lengthAndChunks: readonly Row[] = [
  [
    'a length and chunks',
    (inner) => post(`Content-Length: ${5 + inner.length}`, chunked) + last + inner,
    [400],
    'refused',
  ],
  ['chunks and a length', (inner) => post(chunked, 'Content-Length: 4') + chunk(inner) + last, [400], 'refused'],
  ...[
    'xchunked',
    'identity',
    'gzip, chunked',
    'chunked, gzip',
    'chunked, chunked',
    '\x0bchunked',
    '"chunked"',
    'chunked;q=1',
    'chunked\0',
    '',
  ].flatMap((coding): readonly Row[] => [
    [
      `the transfer coding ${JSON.stringify(coding)}`,
      (inner) => post(`Transfer-Encoding: ${coding}`) + chunk('{}') + last + inner,
      [400],
      'refused',
    ],
    [
      `the transfer coding ${JSON.stringify(coding)} beside a length`,
      (inner) => post('Content-Length: 2', `Transfer-Encoding: ${coding}`) + '{}' + inner,
      [400],
      'refused',
    ],
  ]),
  [
    'a comma after the transfer coding is ignored (RFC 9110 section 5.6.1)',
    (inner) => post('Transfer-Encoding: chunked,') + chunk('{}') + last + inner,
    [400, 201],
    'two requests',
  ],
  [
    'two transfer codings in two headers',
    (inner) => post(chunked, 'Transfer-Encoding: identity') + chunk('{}') + last + inner,
    [400],
    'refused',
  ],
  [
    'a space before the colon of Transfer-Encoding',
    (inner) => post('Transfer-Encoding : chunked') + chunk('{}') + last + inner,
    [400],
    'refused',
  ],
  [
    'a folded Transfer-Encoding',
    (inner) => post('Transfer-Encoding:\r\n chunked') + chunk('{}') + last + inner,
    [400],
    'refused',
  ],
  [
    'chunks in HTTP/1.0',
    (inner) => post(chunked).replace('HTTP/1.1', 'HTTP/1.0') + chunk('{}') + last + inner,
    [400],
    'refused',
  ],
]

export const lengths: readonly Row[] = [
  [
    'two lengths that differ',
    (inner) => post('Content-Length: 2', `Content-Length: ${2 + inner.length}`) + '{}' + inner,
    [400],
    'refused',
  ],
  ...['2, 2', '+2', '-2', '0x2', '2 2', '', '2.0', '2;', '18446744073709551618'].map((length): Row => [
    `the length ${JSON.stringify(length)}`,
    (inner) => post(`Content-Length: ${length}`) + '{}' + inner,
    [400],
    'refused',
  ]),
  [
    'a space before the colon of Content-Length',
    (inner) => post('Content-Length : 2') + '{}' + inner,
    [400],
    'refused',
  ],
  [
    'a length that is too short leaves a rest that is no request',
    () => `${post('Content-Length: 1')}{}`,
    [400, 400],
    'refused',
  ],
  [
    'a length beyond 32 bits waits for nothing and is refused for its size',
    (inner) => post('Content-Length: 4294967298') + '{}' + inner,
    [413],
    'one request',
  ],
  [
    'two equal lengths are one length, which we refuse as repeated',
    (inner) => post('Content-Length: 2', 'Content-Length: 2') + '{}' + inner,
    [400, 201],
    'two requests',
  ],
  [
    'a space after the length is none',
    (inner) => post('Content-Length: 2 ') + '{}' + inner,
    [400, 201],
    'two requests',
  ],
  ['a POST without a length has no body (RFC 9112 section 6.3)', (inner) => post() + inner, [400, 201], 'two requests'],
]

/** A whole body is a body, wherever and however it is refused: what stands in it is never carried out. */
export const bodies: readonly Row[] = [
  ['a GET with a body', (inner) => get(`Content-Length: ${inner.length}`) + inner, [200], 'one request'],
  ['a GET with chunks', (inner) => get(chunked) + chunk(inner) + last, [200], 'one request'],
  [
    'a HEAD with a body',
    (inner) => get(`Content-Length: ${inner.length}`).replace('GET', 'HEAD') + inner,
    [200],
    'one request',
  ],
  [
    'a DELETE with a body',
    (inner) => get(`Content-Length: ${inner.length}`).replace('GET', 'DELETE') + inner,
    [405],
    'one request',
  ],
  [
    'a body for a path that is none',
    (inner) => line('POST /nowhere HTTP/1.1', `Content-Length: ${inner.length}`) + inner,
    [404],
    'one request',
  ],
  [
    'a body of a wrong media type',
    (inner) => line('POST /sign-in HTTP/1.1', `Content-Length: ${inner.length}`) + inner,
    [415],
    'one request',
  ],
  [
    'a body that is too large, and a request after it',
    (inner) => post('Content-Length: 70000') + inner.padEnd(70_000) + inner,
    [413, 201],
    'two requests',
  ],
  [
    'a body that is too large alone',
    (inner) => post('Content-Length: 70000') + inner.padEnd(70_000),
    [413],
    'one request',
  ],
  ['two requests at once', (inner) => get() + inner, [200, 201], 'two requests'],
  ['a request after Connection: close', (inner) => get('Connection: close') + inner, [200], 'refused'],
]

const badChunk = (what: string, body: string): Row => [
  what,
  (inner) => post(chunked) + body + last + inner,
  [400],
  'refused',
]
export const chunks: readonly Row[] = [
  ...['0x2', '+2', '-2', ' 2', '2 ', '', 'xyz', 'ffffffffffffffff2', '10000000000000002', '2\n'].map((size) =>
    badChunk(`the chunk size ${JSON.stringify(size)}`, `${size}\r\n{}\r\n`),
  ),
  badChunk('a chunk that is longer than it says', '2\r\n{}xx\r\n'),
  badChunk('a chunk that is shorter than it says', '3\r\n{}\r\n'),
  badChunk('a chunk that ends with a bare LF', '2\r\n{}\n'),
  badChunk('a chunk extension that ends with a bare LF', '2;a\n{}\r\n'),
  [
    'a chunk extension without end',
    () => `${post(chunked)}2;${'a'.repeat(100_000)}\r\n{}\r\n${last}`,
    [413],
    'refused',
  ],
  ['a chunk extension is ignored', () => `${post(chunked)}2;a=b;c="d"\r\n{}\r\n${last}`, [400], 'one request'],
  [
    'leading zeros of a chunk size are ignored',
    () => `${post(chunked)}${'0'.repeat(20)}2\r\n{}\r\n${last}`,
    [400],
    'one request',
  ],
  [
    'a trailer is not taken: the request is answered, then the connection closed',
    () => `${post(chunked)}${chunk('{}')}0\r\nX-A: b\r\n\r\n`,
    [400, 400],
    'refused',
  ],
  [
    'a request where a trailer could be',
    (inner) => `${post(chunked)}${chunk('{}')}0\r\n${inner}`,
    [400, 400],
    'refused',
  ],
]

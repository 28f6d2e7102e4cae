import { describe, expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { anyText } from '../support/any-text.ts'
import {
  embedUrlFault,
  embedUrlOf,
  isPlainAddress,
  redirectTarget,
  redirectUriFault,
  redirectUriMatches,
  webhookUrlFault,
} from '../../src/domain/registered-url.ts'

const registered = 'https://client.example.com/oauth/callback?tenant=42&x=%2F'

describe('a redirect URI that can be registered', () => {
  test('is a plain HTTPS URL, with or without path, query and port', () => {
    for (const text of [
      'https://client.example.com',
      'https://client.example.com/',
      'https://client.example.com/cb',
      'https://client.example.com?tenant=42',
      'https://client.example.com:8443/cb',
      'https://localhost:3443/cb',
      'https://127.0.0.1:3443/cb',
      'https://[::1]:3443/cb',
      'https://xn--bcher-kva.example/cb',
      'https://a_b.example/cb',
      'https://client.example.com/a%20b;v=1/~me/(x)?q=a+b&codes=1',
      `https://client.example.com/${'a'.repeat(2048 - 27)}`,
      registered,
    ]) {
      expect(`${redirectUriFault(text)} ${text}`).toBe(`null ${text}`)
    }
  })
})

describe('a redirect URI is refused', () => {
  const refusals = {
    'starts with https://.': [
      '',
      'http://client.example.com/cb',
      'https:/client.example.com/cb',
      'https:client.example.com/cb',
      '//client.example.com/cb',
      '/cb',
      'client.example.com/cb',
      'myapp://cb',
      'javascript:alert(1)//https://x',
      'data:text/html,x',
      'xhttps://client.example.com',
    ],
    'starts with https:// in lower case.': ['HTTPS://client.example.com/cb', 'Https://client.example.com/cb'],
    'has no fragment (#).': [
      'https://client.example.com/cb#',
      'https://client.example.com/cb#a',
      'https://client.example.com#',
    ],
    'has no wildcard (*).': [
      'https://*.example.com/cb',
      'https://client.*.com/cb',
      'https://*/cb',
      'https://client.example.com:*/cb',
      'https://client.example.com/*',
    ],
    'has no user name or password before the host.': [
      'https://user@client.example.com/cb',
      'https://user:pass@client.example.com/cb',
      'https://@client.example.com/cb',
      'https://client.example.com@evil.example/cb',
      'https://client.example.com:443@evil.example/cb',
    ],
    'has only the characters that RFC 3986 allows; others are percent-encoded.': [
      'https:\\\\client.example.com/cb',
      'https://client.example.com\\@evil.example/cb',
      ' https://client.example.com/cb',
      'https://client.example.com/cb ',
      'https://client.example.com/c b',
      'https://client.example.com/cb\n',
      'https://client.exa\tmple.com/cb',
      'https://client.example.com/cb\r\nSet-Cookie: a=b',
      'https://client.example.com/cb\0',
      'https://client.example.com/\u00fc',
      'https://client.example.com/\ud800',
      'https://client.example.com/"x"',
      'https://client.example.com/<x>',
      'https://client.example.com/%',
      'https://client.example.com/%zz',
      'https://client.example.com/{x}',
    ],
    'has a host in lower case, and nothing but a port after it.': [
      'https://',
      'https:///cb',
      'https://?x=1',
      'https://:443/cb',
      'https://Client.example.com/cb',
      'https://client.example.com:/cb',
      'https://client.example.com:80a/cb',
      'https://client%2eexample.com/cb',
      'https://a;b.example/cb',
      "https://a'b.example/cb",
      'https://a,b.example/cb',
      'https://./cb',
      'https://client.example.com./cb',
      'https://client.example.com.:8443/cb',
      'https://client..example.com/cb',
      'https://.example.com/cb',
      'https://-/cb',
      'https://client-.example.com/cb',
      'https://client.-example.com/cb',
      'https://client.example.com:0/cb',
      'https://client.example.com:00/cb',
      'https://[::1/cb',
    ],
    'is written as browsers write it: no default port, no dot segments, no shortened address.': [
      'https://client.example.com:443/cb',
      'https://client.example.com:08443/cb',
      'https://client.example.com:99999/cb',
      'https://127.1/cb',
      'https://2130706433/cb',
      'https://0x7f000001/cb',
      'https://[0:0:0:0:0:0:0:1]/cb',
      'https://client.example.com/a/../cb',
      'https://client.example.com/./cb',
      'https://client.example.com/%2e%2e/cb',
      'https://xn--a.example/cb',
    ],
    'has no code in its query, which the answer adds: give it another name.': ['https://client.example.com/cb?code=1'],
    'has no state in its query, which the answer adds: give it another name.': [
      'https://client.example.com/cb?x=1&state=',
      'https://client.example.com/cb?x=1&s%74ate=2&state=3',
    ],
    'has no iss in its query, which the answer adds: give it another name.': ['https://client.example.com/cb?iss'],
    'has no error in its query, which the answer adds: give it another name.': [
      'https://client.example.com/cb?%65rror=1',
    ],
    'has no code or error_description in its query, which the answer adds: give it another name.': [
      'https://client.example.com/cb?error_description=none&code=',
      'https://client.example.com/cb?error%5fdescription=none&&code',
    ],
    'has no error_uri in its query, which the answer adds: give it another name.': [
      'https://client.example.com/cb?a=b?&error_uri=https://a.example',
    ],
    'has at most 2048 characters.': [`https://client.example.com/${'a'.repeat(2048 - 26)}`],
  }

  for (const [rule, texts] of Object.entries(refusals)) {
    test(`because one ${rule}`, () => {
      for (const text of texts) expect(`${redirectUriFault(text)} ${text}`).toBe(`A redirect URI ${rule} ${text}`)
    })
  }

  test('with a fixed sentence that repeats nothing of it', () => {
    for (const text of Object.values(refusals).flat()) {
      const message = redirectUriFault(text) ?? ''
      expect(message).toMatch(/^[A-Z].*\.$/)
      expect(message).not.toContain('example')
    }
  })

  test('or accepted, but never throws', () => {
    const wild = fc.oneof(
      anyText,
      fc.string({ unit: 'binary-ascii', maxLength: 80 }).map((tail) => `https://${tail}`),
      fc
        .tuple(fc.domain(), fc.array(fc.constantFrom(...'/?#&=.:@a', '%2e', '%C3%A9')))
        .map(([host, parts]) => `https://${host}/${parts.join('')}`),
    )
    fc.assert(
      fc.property(wild, (text) => {
        if (redirectUriFault(text) !== null) return
        const parsed = new URL(text)
        expect([parsed.protocol, parsed.username, parsed.password, parsed.hash]).toEqual(['https:', '', '', ''])
        expect(text).not.toMatch(/[#*\\\s]/)
        expect(text).toStartWith(`https://${parsed.host}`)
      }),
      { numRuns: 3000 },
    )
  })

  test('at once, however long it is', () => {
    const start = performance.now()
    for (const unit of ['%', '.', '[', 'a.', '%2e/', '?', '@', ':', '/..'])
      redirectUriFault(`https://${unit.repeat(500_000)}`)
    expect(performance.now() - start).toBeLessThan(1000)
  })
})

describe('a presented redirect URI matches', () => {
  test('the registered one, byte for byte', () => {
    expect(redirectUriMatches(registered, registered)).toBeTrue()
    expect(redirectUriMatches(registered, `${registered.slice(0, 9)}${registered.slice(9)}`)).toBeTrue()
  })

  test('no other URI, even if a parser reads both alike', () => {
    for (const presented of [
      registered.toUpperCase(),
      registered.replace('https', 'HTTPS'),
      registered.replace('https', 'http'),
      registered.replace('client', 'Client'),
      registered.replace('.com', '.com.'),
      registered.replace('.com', '.com:443'),
      registered.replace('/oauth', '/oauth/'),
      registered.replace('/oauth', '//oauth'),
      registered.replace('/oauth', '/./oauth'),
      registered.replace('/oauth', '/x/../oauth'),
      registered.replace('callback', 'callback/'),
      registered.replace('callback', '%63allback'),
      registered.replace('%2F', '%2f'),
      registered.replace('%2F', '/'),
      registered.replace('tenant=42&x=%2F', 'x=%2F&tenant=42'),
      `${registered}#`,
      `${registered}&`,
      `${registered}&code=x`,
      ` ${registered}`,
      `${registered} `,
      registered.split('?')[0] ?? '',
      '',
    ]) {
      expect(redirectUriMatches(registered, presented)).toBeFalse()
    }
  })

  test('no changed copy of itself', () => {
    const position = fc.integer({ min: 0, max: registered.length - 1 })
    const unit = anyText.filter((text) => text !== '')
    const way = fc.constantFrom('insert', 'replace', 'delete', 'repeat')
    const mutant = fc.tuple(position, unit, way).map(([at, text, how]) => {
      const [head, tail] = [registered.slice(0, at), registered.slice(at)]
      if (how === 'insert') return head + text + tail
      if (how === 'replace') return head + text + tail.slice(1)
      return how === 'delete' ? head + tail.slice(1) : head + tail.slice(0, 1) + tail
    })
    fc.assert(
      fc.property(mutant, (presented) => {
        fc.pre(presented !== registered)
        expect(redirectUriMatches(registered, presented)).toBeFalse()
      }),
      { numRuns: 20_000 },
    )
  })
})

describe('the target of a redirect', () => {
  const answer = { code: 'apco_x', state: 'a b&c=d#e%/\u00fc\u{1f600}"', iss: 'https://platform.example' }

  test('has code, state and issuer unchanged for a client that parses its query', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (state) => {
        const target = new URL(redirectTarget('https://c.example/cb', { ...answer, state }))
        expect(Object.fromEntries(target.searchParams)).toEqual({ ...answer, state: state.toWellFormed() })
        expect(target.hash).toBe('')
        expect(target.origin + target.pathname).toBe('https://c.example/cb')
      }),
    )
  })

  test('keeps the query that was registered as it is', () => {
    expect(redirectTarget(registered, answer)).toStartWith(`${registered}&code=apco_x&state=`)
  })

  test('has nothing of an answer twice, also for a URI that was registered when it might have it', () => {
    const error = { error: 'access_denied', error_description: 'No.', state: '5', iss: 'https://platform.example' }
    const old = 'https://c.example/cb?code=1&a=b?c&error=&%65rror=2&b&error_description=+&st%61te&iss=x'
    for (const given of [answer, error]) {
      const target = redirectTarget(old, given)
      expect(target).toStartWith('https://c.example/cb?a=b?c&b&')
      expect([...new URL(target).searchParams].slice(2)).toEqual(Object.entries(given))
    }
    expect(redirectTarget('https://c.example?code=1', { code: '2' })).toBe('https://c.example?code=2')
  })

  test('is a valid query whatever the last character of the URI is', () => {
    const added = { code: '1' }
    expect(redirectTarget('https://c.example', added)).toBe('https://c.example?code=1')
    expect(redirectTarget('https://c.example/cb?', added)).toBe('https://c.example/cb?code=1')
    expect(redirectTarget('https://c.example/cb?a', added)).toBe('https://c.example/cb?a&code=1')
    expect(redirectTarget('https://c.example/cb?a=1&', added)).toBe('https://c.example/cb?a=1&code=1')
  })

  test('cannot be changed by the state', () => {
    for (const state of ['\r\nLocation: https://evil.example', '#', '&code=other', '"><script>', '\0']) {
      const target = redirectTarget('https://c.example/cb', { ...answer, state })
      expect(target).toMatch(/^https:\/\/c\.example\/cb\?[\w.*%+&=-]+$/)
      expect(new URL(target).searchParams.getAll('code')).toEqual(['apco_x'])
    }
  })
})

test.each([
  'https://app.example/hooks',
  'https://app.example',
  'https://app.example?a=b',
  'https://app.example:8443/hooks?a=%7Cb',
  'https://192.0.2.7/hooks',
  'https://[2001:db8::1]:8443/hooks',
  `https://app.example/${'x'.repeat(2048 - 20)}`,
])('a webhook URL may be %p', (url) => expect(webhookUrlFault(url)).toBeNull())

const characters = 'A webhook URL has only the characters that RFC 3986 allows; others are percent-encoded.'
const scheme = 'A webhook URL starts with https://.'
const host = 'A webhook URL has a host in lower case, and nothing but a port after it.'
const spelling =
  'A webhook URL is written as browsers write it: no default port, no dot segments, no shortened address.'

test.each([
  [`https://app.example/${'x'.repeat(2049 - 20)}`, 'A webhook URL has at most 2048 characters.'],
  ['https://app.example\\@evil.example/', characters],
  ['https://app.example/?a=\\', characters],
  ['https://app.example/?a=|', characters],
  ['https://app.example/%zz', characters],
  ['https://app.example/ ', characters],
  ['https://app.example/\n', characters],
  ['', scheme],
  ['/hooks', scheme],
  ['http://app.example/', scheme],
  ['HTTPS://app.example/', 'A webhook URL starts with https:// in lower case.'],
  ['ftp://app.example/', scheme],
  ['https:/app.example/', scheme],
  ['https://app.example/#there', 'A webhook URL has no fragment (#).'],
  ['https://app.example#there', 'A webhook URL has no fragment (#).'],
  ['https://user@app.example/', 'A webhook URL has no user name or password before the host.'],
  ['https://user:pass@127.0.0.1/', 'A webhook URL has no user name or password before the host.'],
  ['https://', host],
  ['https:///x', host],
  ['https://APP.example/', host],
  ['https://*.example/', host],
  ['https://app.example./', host],
  ['https://-app.example/', host],
  ['https://app.example:0/', host],
  ['https://app.example:/', host],
  ['https://app.example:port/', host],
  ['https://app.example;x/', host],
  ['https://app.example,evil.example/', host],
  ['https://[::1%25eth0]/', host],
  ['https://app.example:443/', spelling],
  ['https://app.example:99999/', spelling],
  ['https://app.example/a/../b', spelling],
  ['https://app.example/%2e%2e/b', spelling],
  ['https://127.1/', spelling],
  ['https://0x7f000001/', spelling],
  ['https://2130706433/', spelling],
  ['https://0177.0.0.1/', spelling],
  ['https://[2001:db8:0:0:0:0:0:1]/', spelling],
  ['https://1.2.3.4.5/', spelling],
])('a webhook URL must not be %p', (url, message) => expect(webhookUrlFault(url)).toBe(message))

test('an app names one HTTPS page, and its frame has exactly the origin of that page', () => {
  for (const [url, origin] of [
    ['https://app.example/builder?theme=plain', 'https://app.example'],
    ['https://app.example', 'https://app.example'],
    ['https://app.example?theme=plain', 'https://app.example'],
    ['https://app.example:8443/', 'https://app.example:8443'],
    ['https://192.0.2.7/x', 'https://192.0.2.7'],
    ['https://app.example/caf%C3%A9?at=the%20sea', 'https://app.example'],
  ] as const) {
    expect(embedUrlFault({ embedUrl: url })).toBeNull()
    expect(embedUrlOf({ embedUrl: url })).toEqual({ url, origin })
  }
})

test('the address of a page has 2048 characters at most', () => {
  const longest = `https://app.example/${'x'.repeat(2048 - 'https://app.example/'.length)}`
  expect(embedUrlFault({ embedUrl: longest })).toBeNull()
  expect(embedUrlFault({ embedUrl: `${longest}x` })).toBe('embedUrl has at most 2048 characters.')
})

test('a manifest without a page is valid and opens nothing', () => {
  expect(embedUrlFault({ name: 'x' })).toBeNull()
  expect(embedUrlOf({ name: 'x' })).toBeNull()
})

test.each([
  7,
  null,
  '',
  '/builder',
  'http://app.example/',
  'javascript:alert(1)',
  'https://app.example/#there',
  'https://user@app.example/',
  'https://user:pass@app.example/',
  'https://*.example/',
  'https://APP.example/',
  'https://app.example:443/',
  'https://app.example/a/../b',
  'https://app.example\\@evil.example/',
  'https://app.example/?a=\\',
  'https://app.example/?a=|',
  'https://app.example/?a=%zz',
  'https://app.example; script-src *',
  'https://app.example,evil.example/',
  'https://[2001:db8::1]/',
  'https://0x7f000001/',
  'https://127.1/',
  'https://app.example/ ',
  'https://app.example/\n',
  'https://é.example/',
  'https:///x',
  `https://app.example/${'x'.repeat(2048)}`,
])('an embedUrl must not be %p', (embedUrl) => {
  expect(embedUrlFault({ embedUrl })).toMatch(/^embedUrl .*\.$/)
  expect(embedUrlOf({ embedUrl })).toBeNull()
})

test.each([
  ['https://b\u00fccher.example/cb', 'xn--bcher-kva.example'],
  ['https://BU\u0308CHER.example:8443/cb?x=1', 'xn--bcher-kva.example:8443'],
  ['https://例え.テスト', 'xn--r8jz45g.xn--zckzah'],
  ['https://client.example\u3002com/cb', 'client.example.com'],
])('the refusal of %p names the host to register', (url, host) => {
  for (const fault of [redirectUriFault(url), webhookUrlFault(url), embedUrlFault({ embedUrl: url })]) {
    expect(fault).toContain(`in ASCII: ${host}.`)
  }
})

test('the refusal of an apostrophe in a query names it; in a path it is allowed', () => {
  for (const url of ["https://a.example/cb?x='", "https://a.example/cb?it's"]) {
    for (const fault of [redirectUriFault(url), webhookUrlFault(url), embedUrlFault({ embedUrl: url })]) {
      expect(fault).toContain("apostrophe (')")
    }
  }
  expect(redirectUriFault("https://a.example/it's")).toBeNull()
})

test('the refusal names no host of a URL that is more than host and path, or not https', () => {
  const urls = ['https://\u00fc@evil.example/', 'https://\u00fc.example\\@evil.example/', 'https://\u00fc b/']
  for (const url of [...urls, 'http://\u00fcb\u00fc.example/']) expect(redirectUriFault(url)).not.toContain('ASCII')
})

test('an address that is kept as it came is one that every reader reads alike', () => {
  for (const text of [
    'https://a.example',
    'HTTPS://A.example:8443/ü?x=a b#c',
    'mailto:help@a.example?subject=Hello there',
  ])
    expect(`${text} ${isPlainAddress(text, 'https:', 'mailto:')}`).toBe(`${text} true`)
  for (const text of [
    '',
    'a.example',
    '//a.example/x.png',
    'http://a.example/x.png',
    'javascript:alert(1)',
    'data:,x',
    ' https://a.example/',
    'https://a.example/\n',
    'ht\ntps://a.example/',
    'https://a.exa\tmple/',
    'https:a.example/',
    'https:/a.example/',
    'https:///a.example/',
    'https:\\\\a.example/',
    'https://a.example\\@b.example/',
    'https://user@a.example/',
    'https://:password@a.example/',
    'https://a.example/\0',
    'mailto:a@a.example\r\nBcc: b@a.example',
  ])
    expect(`${JSON.stringify(text)} ${isPlainAddress(text, 'https:', 'mailto:')}`).toBe(`${JSON.stringify(text)} false`)
})

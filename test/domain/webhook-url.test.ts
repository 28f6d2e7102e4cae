import { expect, test } from 'bun:test'
import { webhookUrlFault } from '../../src/domain/webhook-url.ts'

test.each([
  'https://app.example/hooks',
  'https://app.example',
  'https://app.example?a=b',
  'https://app.example:8443/hooks?a=%7Cb',
  'https://192.0.2.7/hooks',
  'https://[2001:db8::1]:8443/hooks',
  `https://app.example/${'x'.repeat(2048 - 20)}`,
])('a webhook may be at %p', (url) => expect(webhookUrlFault(url)).toBeNull())

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
  ['https://é.example/', characters],
  ['', scheme],
  ['/hooks', scheme],
  ['http://app.example/', scheme],
  ['HTTPS://app.example/', scheme],
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
])('%p is no place for a webhook', (url, message) => expect(webhookUrlFault(url)).toBe(message))

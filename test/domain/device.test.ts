import { expect, test } from 'bun:test'
import { browserLabel } from '../../src/domain/device.ts'

const webkit = 'AppleWebKit/605.1.15 (KHTML, like Gecko)'
const blink = 'AppleWebKit/537.36 (KHTML, like Gecko)'

test.each([
  ['Firefox on Linux', 'Mozilla/5.0 (X11; Linux x86_64; rv:141.0) Gecko/20100101 Firefox/141.0'],
  ['Firefox on Android', 'Mozilla/5.0 (Android 14; Mobile; rv:141.0) Gecko/141.0 Firefox/141.0'],
  ['Firefox on iPhone', `Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) ${webkit} FxiOS/141.0 Mobile/15E148`],
  ['Chrome on Windows', `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${blink} Chrome/139.0.0.0 Safari/537.36`],
  ['Chrome on Linux', `Mozilla/5.0 (X11; Linux x86_64) ${blink} HeadlessChrome/139.0.0.0 Safari/537.36`],
  ['Chrome on ChromeOS', `Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${blink} Chrome/139.0.0.0 Safari/537.36`],
  ['Chrome on iPhone', `Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) ${webkit} CriOS/139.0 Mobile/15E148`],
  ['Edge on Windows', `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${blink} Chrome/139.0.0.0 Safari/537.36 Edg/139.0`],
  ['Opera on macOS', `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${blink} Chrome/138.0 Safari/537.36 OPR/122.0`],
  ['Samsung Internet on Android', `Mozilla/5.0 (Linux; Android 14) ${blink} SamsungBrowser/28.0 Chrome/130.0 Safari/1`],
  ['Safari on macOS', `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${webkit} Version/17.5 Safari/605.1.15`],
  ['Safari on iPad', `Mozilla/5.0 (iPad; CPU OS 17_5 like Mac OS X) ${webkit} Version/17.5 Mobile/15E148 Safari/604.1`],
  ['curl', 'curl/8.9.1'],
  ['Linux', 'Something/1.0 (Linux)'],
])('%s is recognised', (label, userAgent) => {
  expect(browserLabel(userAgent)).toBe(label)
})

test('no other part of the header is kept', () => {
  for (const text of [null, '', 'Bun/1.4.5', '<script>alert(1)</script>', '\u202e'.repeat(9_999)]) {
    expect(browserLabel(text)).toBeNull()
  }
  expect(browserLabel('<b>Firefox/1 \u202e Linux')).toBe('Firefox on Linux')
  expect(browserLabel(`${' '.repeat(512)}Firefox/1`)).toBeNull()
})

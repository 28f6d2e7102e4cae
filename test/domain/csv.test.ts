import { expect, test } from 'bun:test'
import { csvLine } from '../../src/domain/csv.ts'

test('cells with commas, quotes and line ends are quoted, and lines end with CR LF (RFC 4180)', () => {
  expect(csvLine(['a', 1, null, 'b,c', 'say "no"', 'two\r\nlines', ' x'])).toBe(
    'a,1,,"b,c","say ""no""","two\r\nlines"," x"\r\n',
  )
})

test('a cell that a spreadsheet would take for a formula becomes text', () => {
  for (const formula of ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '\n=1', '＝1', '＋1', '－1', '＠x']) {
    expect(csvLine([formula]).replace(/^"/, '')).toStartWith(`'${formula}`)
  }
  expect(csvLine(["=cmd|' /C calc'!A0,\""])).toBe('"\'=cmd|\' /C calc\'!A0,"""\r\n')
  expect(csvLine([-1, 'a=b', 'x-y'])).toBe('-1,a=b,x-y\r\n')
})

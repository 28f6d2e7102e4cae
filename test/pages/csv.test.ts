import { expect, test } from 'bun:test'
import { csvLine } from '../../src/pages/csv-download.ts'

test('every text is quoted, numbers are not, and lines end with CR LF (RFC 4180)', () => {
  expect(csvLine(['a', 1, null, 'b,c', 'b;c', 'b\tc', 'say "no"', 'two\r\nlines', ' x', '', -1])).toBe(
    '"a",1,,"b,c","b;c","b\tc","say ""no""","two\r\nlines"," x","",-1\r\n',
  )
})

const formulas = ['=1+1', '+1', '-1', '@SUM(A1)', '＝1', '＋1', '－1', '＠x', "=cmd|' /C calc'!A0"]

test('a cell that a spreadsheet would take for a formula becomes text', () => {
  for (const formula of [...formulas, '\t=1', '\r=1', '\n=1']) expect(csvLine([formula])).toStartWith(`"'${formula[0]}`)
  expect(csvLine(['a=b', 'x-y', 'x - y', '1+1'])).toBe('"a=b","x-y","x - y","1+1"\r\n')
})

test('nor does a formula begin behind a separator in a text, whichever one the spreadsheet uses', () => {
  for (const separator of [';', ',', '\t', '\n', ';"', ',""']) {
    for (const formula of formulas) {
      const line = csvLine(['a', `Shop${separator}${formula}`])
      expect(line).toContain(`'${formula}`)
      // As a program reads it that knows no quotes at all.
      for (const cell of line.trim().split(/[;,\t\n]/)) expect(cell.replaceAll('"', '')).not.toMatch(/^[=+\-@＝＋－＠]/)
    }
  }
})

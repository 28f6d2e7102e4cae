import { expect, test } from 'bun:test'
import { base64Intake } from '../../src/http/upload-scanner.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

/** The decoded bytes of a text that arrives in these pieces; null if it is not base64. */
const taken = (...pieces: readonly string[]): string | null => {
  const intake = base64Intake()
  for (const piece of pieces) intake.take(bytes(piece))
  const file = intake.finish()
  return file === null ? null : Buffer.concat(file.pieces).toString()
}

test('base64 is decoded however the network splits it', () => {
  const text = btoa('what a file may hold')
  expect(taken(text)).toBe('what a file may hold')
  for (let cut = 0; cut <= text.length; cut += 1) {
    expect(taken(text.slice(0, cut), text.slice(cut))).toBe('what a file may hold')
  }
  expect(taken('')).toBe('')
})

test('a slash may be escaped, even if the network splits the escape', () => {
  expect(taken('Pz8\\/')).toBe('???')
  expect(taken('Pz8\\', '/')).toBe('???')
})

test('only strict base64 is accepted: no white space, other alphabet, wrong padding or escape', () => {
  for (const wrong of [
    'QUFB QUFB',
    'QUFB\nQUFB',
    'QUFBQUFB ',
    ' QUFBQUFB',
    'QUFB-_FB',
    'QUFB!UFB',
    'QUFBQUE',
    'QUFBQUF=',
    'QUE=QUFB',
    'QUE=QUFBQUFB',
    'Pz8\\u002f',
    'Pz8\\nQUFB',
  ]) {
    expect({ wrong, taken: taken(wrong) }).toEqual({ wrong, taken: null })
    expect(taken(...wrong)).toBeNull()
  }
})

test('text that is not base64 is returned completely', () => {
  for (const wrong of ['QUFBQUFB\\nQUFB', 'QUFBQUFB\\n', 'QUE=QUFBQUFB', 'QUFBQUE=QUF', 'QUFB QUFB']) {
    const intake = base64Intake()
    expect(intake.take(bytes(wrong))).toBe(false)
    expect(Buffer.from(intake.rest()).toString()).toBe(wrong)
  }
})

test('a fault is reported as soon as it arrives, and nothing more is decoded', () => {
  const intake = base64Intake()
  expect(intake.take(bytes('QUFBQUFB'))).toBe(true)
  expect(intake.take(bytes('QU!BQUFB'))).toBe(false)
  expect(Buffer.from(intake.rest()).toString()).toContain('QU!BQUFB')
  expect(intake.take(bytes('QUFBQUFB'))).toBe(false)
  expect(intake.finish()).toBeNull()
})

import { expect, test } from 'bun:test'
import { remembered } from '../../src/domain/remembered.ts'

const counting = (most: number, isKept?: (result: string, input: string) => boolean) => {
  const read: string[] = []
  const upper = remembered(
    most,
    (text: string) => {
      read.push(text)
      return text.toUpperCase()
    },
    isKept,
  )
  return { read, upper }
}

test('a recent input is read once', () => {
  const { read, upper } = counting(2)
  expect(['a', 'a', 'b', 'a'].map(upper)).toEqual(['A', 'A', 'B', 'A'])
  expect(read).toEqual(['a', 'b'])
})

test('no more results are kept than allowed', () => {
  const { read, upper } = counting(2)
  for (const text of ['a', 'b', 'c', 'c', 'a']) upper(text)
  expect(read).toEqual(['a', 'b', 'c', 'a'])
})

test('an input that must not be kept is read again', () => {
  const { read, upper } = counting(2, (_, text) => text.length < 2)
  for (const text of ['long', 'long', 'a', 'a']) upper(text)
  expect(read).toEqual(['long', 'long', 'a'])
})

test('an input that is not kept does not drop those that are', () => {
  const { read, upper } = counting(2, (_, text) => text.length < 2)
  for (const text of ['a', 'b', 'long', 'a', 'b']) upper(text)
  expect(read).toEqual(['a', 'b', 'long'])
})

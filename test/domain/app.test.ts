import { expect, test } from 'bun:test'
import { environments } from '../../src/domain/app.ts'

test('there are two environments', () => {
  expect(environments).toEqual(['development', 'production'])
})

import { expect, test } from 'bun:test'
import { readParameters } from '../../../src/http/standard/parameters.ts'
import { callWith } from '../support/door.ts'
import { refusalOf } from '../../operations/support/owner.ts'

const read = async (body: string, query = '') => {
  const request = new Request(`http://localhost/oauth/token${query}`, { method: 'POST', body })
  return await readParameters(callWith(request))
}

const names = `client_id client_secret client_assertion client_assertion_type grant_type code redirect_uri
  code_verifier refresh_token scope token token_type_hint`.split(/\s+/)

test('a parameter that means something comes once, and never in the URL', async () => {
  for (const name of names) {
    expect(await refusalOf(read(`${name}=a&${name}=b`))).toBe('invalid_request')
    expect(await refusalOf(read('', `?${name}=a`))).toBe('invalid_request')
  }
})

test('any other parameter means nothing, wherever it stands and however often', async () => {
  const parameters = await read('utm_source=a&utm_source=b&code=c', '?utm_source=a&utm_source=b')
  expect(parameters('code')).toBe('c')
  expect(parameters('scope')).toBeNull()
})

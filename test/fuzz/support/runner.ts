import type { Credentials } from './credentials.ts'
import { type Draft, encodeBody, markers, type Pairs, write } from './draft.ts'
import { follow, type Recipe } from './make.ts'
import type { Oracle, SentSecret } from './oracle.ts'
import type { Line, WireAnswer, WireRequest } from './wire.ts'

export type Asked = { readonly answer: WireAnswer | null; readonly fault: string | null }

/** Sends what a recipe makes, with its secrets put in, and has the answer judged. */
export const ask = async (recipe: Recipe, credentials: Credentials, line: Line, judge: Oracle): Promise<Asked> => {
  const draft = follow(recipe)
  const { request, secrets } = await putSecretsIn(draft, credentials)
  const answer = await line.ask(request)
  return { answer, fault: judge(draft, secrets, answer) }
}

/** Forms whose ticket binds the scopes that they show. */
const bindsScopes = /^\/(?:apps|installs)\//

const boundBy = ({ body, path }: Draft): readonly string[] =>
  body.kind === 'form' && bindsScopes.test(path)
    ? body.fields.filter(([name]) => name === 'scopes').map(([, value]) => value)
    : []

type Filled = { readonly request: WireRequest; readonly secrets: readonly SentSecret[] }

const putSecretsIn = async (draft: Draft, credentials: Credentials): Promise<Filled> => {
  const secrets: SentSecret[] = []
  const known = new Map<string, string>()
  const fill = async (text: string, isHead: boolean): Promise<string> => {
    for (const [marker, name = ''] of text.matchAll(markers)) {
      if (known.has(marker)) continue
      const whole = await credentials.of(name, draft.path, boundBy(draft))
      const value = damage(marker, whole)
      known.set(marker, value)
      const isDead = value !== whole || name === 'endedToken'
      if (name !== 'grantId') secrets.push({ marker, value, isHead, isDead })
    }
    return text.replaceAll(markers, (marker) => known.get(marker) ?? marker)
  }
  const written = write(draft)
  const target = await fill(written.target, false)
  const headers: Pairs = await Promise.all(
    written.headers.map(async ([name, value]) => [name, headerText(await fill(value, true))] as const),
  )
  const body = written.body === null ? null : encodeBody(draft, await fill(written.body, false))
  return {
    request: { method: draft.method, target: encodeURI(target), headers, body, isChunked: draft.isChunked },
    secrets,
  }
}

/** As bytes of UTF-8, and without what no header can hold: the server's parser answers that itself, in a bare 400. */
const headerText = (text: string): string => Buffer.from(text.replaceAll(/[\r\n\0]/g, '')).toString('latin1')

const damage = (marker: string, value: string): string => {
  const [, , at, by = ''] = [...marker.matchAll(markers)][0] ?? []
  if (at === undefined) return value
  const place = Number(at) % value.length
  return value.slice(0, place) + by + value.slice(place + 1)
}

/** The recipe with as few steps as still lead to a fault. */
export const shrink = async (recipe: Recipe, isFaulty: (smaller: Recipe) => Promise<boolean>): Promise<Recipe> => {
  for (const left of recipe.steps) {
    const smaller = { ...recipe, steps: recipe.steps.filter((step) => step !== left) }
    if (await isFaulty(smaller)) return await shrink(smaller, isFaulty)
  }
  return recipe
}

/** The request for people, with markers for its secrets. */
export const describeRecipe = (recipe: Recipe): string => {
  const draft = follow(recipe)
  const { target, headers, body } = write(draft)
  const steps = recipe.steps.map(({ mutation }) => mutation.name).join(', ')
  const lines = [
    `request ${recipe.index}: ${recipe.operation.name}${steps === '' ? '' : ` with ${steps}`}`,
    `${draft.method} ${target}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    '',
    ...(body === null
      ? []
      : [JSON.stringify(body), `(${draft.encoding}, flips ${JSON.stringify(draft.flips)}, chunks ${draft.isChunked})`]),
  ]
  return lines
    .map((line) => (line.length > 600 ? `${line.slice(0, 600)}… (${line.length} characters)` : line))
    .join('\n')
}

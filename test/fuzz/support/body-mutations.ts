import type { Chance } from './operation.ts'
import { type Draft, type Pairs, secret, withHeader, write } from './draft.ts'
import { hostileValues, longTexts } from './hostile-values.ts'
import { hostile } from './hostile-by-place.ts'
import { choose, damaged, type Mutation, onPairs } from './mutation.ts'

type Fields = Readonly<Record<string, unknown>>
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A place in the JSON body, at any depth, gets something else. */
const changeField = (draft: Draft, chance: Chance, change: (fields: Fields, key: string) => Fields): Draft => {
  if (draft.body.kind !== 'json' || !isFields(draft.body.value)) return draft
  const walk = (fields: Fields): Fields => {
    const key = choose(chance, Object.keys(fields))
    if (key === undefined) return { ...fields, extra: 1 }
    const inner = fields[key]
    return isFields(inner) && Object.keys(inner).length > 0 && chance(2) === 0
      ? { ...fields, [key]: walk(inner) }
      : change(fields, key)
  }
  return { ...draft, body: { kind: 'json', value: walk(draft.body.value) } }
}

const changeForm = (draft: Draft, change: (fields: Pairs) => Pairs): Draft =>
  draft.body.kind === 'form' ? { ...draft, body: { kind: 'form', fields: change(draft.body.fields) } } : draft

/** The body as text, changed by hand: what no serializer would write. */
const changeText = (draft: Draft, change: (text: string) => string): Draft => {
  const text = write(draft).body
  return text === null ? draft : { ...draft, body: { kind: 'text', text: change(text) } }
}

const insertMember = (text: string, member: string): string =>
  text.startsWith('{') ? `{${member}${text === '{}' ? '' : ','}${text.slice(1)}` : text

const without = (fields: Fields, key: string): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => name !== key))

export const bodyMutations: readonly Mutation[] = [
  {
    name: 'another type or value of a field',
    apply: (d, c) => changeField(d, c, (f, k) => ({ ...f, [k]: choose(c, hostileValues) })),
  },
  {
    name: 'a field with a secret of another kind',
    apply: (d, c) => changeField(d, c, (f, k) => ({ ...f, [k]: secret(choose(c, hostile.secrets) ?? 'session') })),
  },
  { name: 'a field with a damaged secret', apply: (d, c) => changeField(d, c, (f, k) => ({ ...f, [k]: damaged(c) })) },
  {
    name: 'a very long field',
    apply: (d, c) => changeField(d, c, (f, k) => ({ ...f, [k]: choose(c, longTexts)?.() })),
  },
  { name: 'a field left out', apply: (d, c) => changeField(d, c, without) },
  {
    name: 'fields that nobody knows',
    apply: (d, c) =>
      changeField(d, c, (f) => ({
        ...f,
        constructor: 1,
        toString: 'x',
        isOperator: true,
        userId: 'usr_1',
        [choose(c, hostile.names) ?? 'x']: choose(c, hostileValues),
      })),
  },
  {
    name: 'the field in another spelling',
    apply: (d, c) =>
      changeField(d, c, (f, k) => ({
        ...without(f, k),
        [choose(c, [k.toUpperCase(), `${k} `, k.replaceAll(/[A-Z]/g, (l) => `_${l.toLowerCase()}`)]) ?? k]: f[k],
      })),
  },
  {
    name: 'a whole other body',
    apply: (d, c) =>
      d.body.kind === 'json' ? { ...d, body: { kind: 'json', value: choose(c, hostileValues) ?? null } } : d,
  },
  {
    name: 'a key twice',
    apply: (d, c) =>
      changeText(d, (t) =>
        insertMember(
          t,
          `${JSON.stringify(choose(c, hostile.names) ?? 'scope')}:1,${/^\{"[^"]*":(?:"[^"]*"|\d+)/.exec(t)?.[0].slice(1) ?? '"a":1'}`,
        ),
      ),
  },
  {
    name: '__proto__',
    apply: (d, c) =>
      changeText(d, (t) =>
        insertMember(
          t,
          choose(c, [
            '"__proto__":{"isOperator":true}',
            String.raw`"\u005f_proto__":{"consent":true}`,
            '"constructor":{"prototype":{"consent":true}}',
          ]) ?? '',
        ),
      ),
  },
  {
    name: 'deep nesting',
    apply: (d, c) =>
      changeText(d, (t) => {
        const depth = choose(c, [31, 32, 33, 1_000, 60_000]) ?? 1
        return insertMember(t, `"deep":${'['.repeat(depth)}${c(4) === 0 ? '' : ']'.repeat(depth)}`)
      }),
  },
  {
    name: 'hostile numbers',
    apply: (d, c) => changeText(d, (t) => insertMember(t, `"n":${choose(c, hostile.numbers) ?? 1}`)),
  },
  {
    name: 'hostile text in raw JSON',
    apply: (d, c) => changeText(d, (t) => insertMember(t, `"s":"${choose(c, hostile.escapes) ?? ''}"`)),
  },
  { name: 'a body cut off', apply: (d, c) => changeText(d, (t) => t.slice(0, c(t.length + 1))) },
  {
    name: 'a body with something around it',
    apply: (d, c) =>
      changeText(d, (t) => {
        const extra = choose(c, ['\uFEFF', ' ', '\0', '{}', '//', ")]}',\n", ',']) ?? ''
        return c(2) === 0 ? extra + t : t + extra
      }),
  },
  { name: 'a body that is empty', apply: (d) => ({ ...d, body: { kind: 'text', text: '' } }) },
  {
    name: 'a body larger than the limit',
    apply: (d, c) =>
      changeText(d, (t) =>
        c(8) === 0
          ? t + ' '.repeat(d.path.endsWith('/versions') ? 17 * 1024 * 1024 : 66_000)
          : t + ' '.repeat(65_536 - (t.length % 65_536) + c(3) - 1),
      ),
  },
  {
    name: 'another encoding',
    apply: (d, c) => ({ ...d, encoding: choose(c, ['utf16le', 'latin1', 'latin1'] as const) ?? 'latin1' }),
  },
  {
    name: 'bytes changed',
    apply: (d, c) => ({
      ...d,
      flips: Array.from(
        { length: 1 + c(3) },
        () => [c(1_001), choose(c, [0, 0xff, 0xc0, 0xed, 0x80, 0x22, 0x5c, 0x25, c(256)]) ?? 0] as const,
      ),
    }),
  },
  { name: 'chunks', apply: (d) => ({ ...d, isChunked: true }) },
  {
    name: 'a form field twice',
    apply: (d, c) => changeForm(d, (f) => onPairs(f, c, (pair) => [pair, c(2) === 0 ? pair : [pair[0], 'other']])),
  },
  { name: 'a form field left out', apply: (d, c) => changeForm(d, (f) => onPairs(f, c, () => [])) },
  {
    name: 'a form field with something else',
    apply: (d, c) =>
      changeForm(d, (f) =>
        onPairs(f, c, ([name]) => [
          [name, choose(c, [...hostile.texts, damaged(c), secret(choose(c, hostile.secrets) ?? 'session')]) ?? ''],
        ]),
      ),
  },
  {
    name: 'a very long form field',
    apply: (d, c) => changeForm(d, (f) => onPairs(f, c, ([name]) => [[name, choose(c, longTexts)?.() ?? '']])),
  },
  {
    name: 'a form badly escaped',
    apply: (d, c) =>
      changeText(
        d,
        (t) => t + (choose(c, ['&%', '&a=%zz', '&a=%00', '&%ff=%ff', '&=', '&&&', '&a', ';b=c', '&a=%ed%a0%80']) ?? ''),
      ),
  },
  {
    name: 'a body where there was none',
    apply: (d, c) =>
      d.body.kind === 'none'
        ? {
            ...withHeader(d, 'Content-Type', 'application/json'),
            body: { kind: 'text', text: choose(c, ['{}', '[', 'x'.repeat(70_000)]) ?? '' },
          }
        : d,
  },
]

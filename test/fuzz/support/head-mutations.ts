import type { Chance } from './operation.ts'
import { type Draft, formText, secret, sessionCookieName, withHeader, withoutHeader } from './draft.ts'
import { hostile } from './hostile-by-place.ts'
import { choose, damaged, type Mutation, onPairs } from './mutation.ts'

const repeated = (draft: Draft, chance: Chance): Draft => {
  const at = chance(draft.headers.length)
  const again = draft.headers[at]
  if (again === undefined) return draft
  const value = chance(2) === 0 ? again[1] : 'other'
  return { ...draft, headers: [...draft.headers, [chance(2) === 0 ? again[0] : again[0].toUpperCase(), value]] }
}

export const headerMutations: readonly Mutation[] = [
  {
    name: 'another version',
    apply: (d, c) => withHeader(d, 'X-Service-Api-Version', choose(c, hostile.versions) ?? ''),
  },
  { name: 'no version', apply: (d) => withoutHeader(d, 'X-Service-Api-Version') },
  { name: 'another media type', apply: (d, c) => withHeader(d, 'Content-Type', choose(c, hostile.mediaTypes) ?? '') },
  { name: 'no media type', apply: (d) => withoutHeader(d, 'Content-Type') },
  {
    name: 'a content coding',
    apply: (d, c) =>
      withHeader(d, 'Content-Encoding', choose(c, ['gzip', 'br', 'identity', 'x', 'deflate, gzip']) ?? ''),
  },
  { name: 'a header twice', apply: repeated },
  {
    name: 'a header left out',
    apply: (d, c) => {
      const one = choose(
        c,
        d.headers.filter(([name]) => name.toLowerCase() !== 'host'),
      )
      return one === undefined ? d : withoutHeader(d, one[0])
    },
  },
  {
    name: 'a token of another kind',
    apply: (d, c) => withHeader(d, 'Authorization', `Bearer ${secret(choose(c, hostile.secrets) ?? 'session')}`),
  },
  { name: 'a damaged token', apply: (d, c) => withHeader(d, 'Authorization', `Bearer ${damaged(c)}`) },
  {
    name: 'hostile authorization',
    apply: (d, c) => withHeader(d, 'Authorization', choose(c, hostile.authorizations) ?? ''),
  },
  { name: 'a cookie', apply: (d, c) => withHeader(d, 'Cookie', choose(c, hostile.cookies) ?? '') },
  { name: 'a damaged cookie', apply: (d, c) => withHeader(d, 'Cookie', `${sessionCookieName}=${damaged(c)}`) },
  {
    name: 'another origin',
    apply: (d, c) =>
      withHeader(
        withHeader(d, 'Origin', choose(c, hostile.origins) ?? ''),
        'Sec-Fetch-Site',
        choose(c, ['same-origin', 'cross-site', 'none', 'same-site', '', 'x']) ?? '',
      ),
  },
  {
    name: 'an idempotency key',
    apply: (d, c) =>
      withHeader(
        d,
        'Idempotency-Key',
        choose(c, [`key-${c(5)}`, '', 'a,b', 'x'.repeat(255), 'x'.repeat(256), 'ä', ' a ']) ?? '',
      ),
  },
  {
    name: 'a header of any kind',
    apply: (d, c) => withHeader(d, choose(c, hostile.headerNames) ?? 'X', choose(c, hostile.headerValues) ?? ''),
  },
  {
    name: 'many headers',
    apply: (d, c) => ({
      ...d,
      headers: [
        ...d.headers,
        ...Array.from({ length: Math.max(0, 180 - d.headers.length - c(150)) }, (_, at) => [`X-${at}`, 'y'] as const),
      ],
    }),
  },
  { name: 'another host', apply: (d, c) => withHeader(d, 'Host', choose(c, hostile.hosts) ?? 'a') },
]

export const addressMutations: readonly Mutation[] = [
  {
    name: 'a query parameter twice',
    apply: (d, c) => ({ ...d, query: onPairs(d.query, c, (pair) => [pair, c(2) === 0 ? pair : [pair[0], 'other']]) }),
  },
  { name: 'a query parameter left out', apply: (d, c) => ({ ...d, query: onPairs(d.query, c, () => []) }) },
  {
    name: 'a query parameter with something else',
    apply: (d, c) => ({ ...d, query: onPairs(d.query, c, ([name]) => [[name, choose(c, hostile.texts) ?? '']]) }),
  },
  {
    name: 'a very long query parameter',
    apply: (d, c) => ({ ...d, query: onPairs(d.query, c, ([name]) => [[name, 'x'.repeat(c(60_000))]]) }),
  },
  {
    name: 'a query parameter more',
    apply: (d, c) => ({
      ...d,
      query: [
        ...d.query,
        [
          choose(c, ['limit', 'cursor', 'status', 'kind', 'limit[]', '__proto__', 'q', 'app', 'since', 'x']) ?? 'x',
          choose(c, hostile.texts) ?? '',
        ],
      ],
    }),
  },
  {
    name: 'hostile query',
    apply: (d, c) => ({
      ...d,
      query: [
        [
          '',
          choose(c, [
            '%',
            '%ff=%ff',
            'limit=%00',
            '&&&=',
            'limit=%31',
            '?',
            'limit=1;limit=2',
            'kind=site&%6bind=store',
            formText(d.query).toUpperCase(),
          ]) ?? '',
        ],
      ],
    }),
  },
  {
    name: 'another path',
    apply: (d, c) => ({
      ...d,
      isOnPath: false,
      path:
        choose(c, [
          `${d.path}/`,
          `/${d.path}`,
          d.path.toUpperCase(),
          d.path.replace('a', '%61'),
          `${d.path}%00`,
          `${d.path};x=y`,
          `${d.path}/../x`,
          `/.${d.path}`,
          `${d.path}%2f`,
          `${d.path}.json`,
          d.path.replace(/[^/]+$/, 'x'.repeat(5_000)),
          `${d.path}\\`,
          d.path.replace(/[^/]+$/, '%ff'),
        ]) ?? d.path,
    }),
  },
  {
    name: 'another method',
    apply: (d, c) => ({
      ...d,
      isOnPath: false,
      method: choose(c, ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND']) ?? 'PUT',
    }),
  },
]

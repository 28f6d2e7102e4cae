import { expect, test } from 'bun:test'
import type { VNode } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { initialsOf } from '../../src/pages/design/avatar.tsx'
import { EmptyState } from '../../src/pages/design/list-tools.tsx'
import { Row, RowList } from '../../src/pages/design/row-list.tsx'
import { StatTile } from '../../src/pages/design/stat.tsx'
import { Timeline } from '../../src/pages/audit-events.tsx'

test('initials come from the first word and the last one, and never turn the direction of text', () => {
  for (const [name, initials] of [
    ['Ada Lovelace', 'AL'],
    ['straße ß', 'Sß'],
    ['ნინო ბერიძე', 'ნბ'],
    ['élodie ñandú', 'ÉÑ'],
    ['newsletter', 'N'],
    ['Ada King Noel', 'AN'],
    ['Orders 1.0.0', 'O'],
    ['Orders App 10.2.0', 'OA'],
    ['3D Shop', '3S'],
    ['ada.lovelace@example.com', 'AC'],
    ['🚀 Launch', '🚀'],
    ['👩‍👩‍👧 Family', '👩‍👩‍👧'],
    ['🇩🇪 Shop', '🇩🇪'],
    [
      '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}',
      '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}',
    ],
    ['\u202egpj.exe', 'GE'],
    ['محمد علي', 'مع'],
    ['李 小龍', '李小'],
    ['', '?'],
    ['---', '?'],
    ['\u202e', '?'],
  ] as const) {
    expect([name, initialsOf(name)]).toEqual([name, initials])
  }
  expect(initialsOf(`${'a'.repeat(100_000)} b`)).toBe('A')
  expect(initialsOf(`a${'\u0301'.repeat(1000)}`).length).toBeLessThanOrEqual(16)
})

const shown = (node: VNode | null): string => (node === null ? '' : renderToString(node))
const row = (name: string) => Row({ href: '/a', title: name, facts: ['one', null, 'two'] })

test('lists say when they are empty, and name what they show to screen readers', () => {
  expect(shown(RowList({ rows: [], row, empty: 'None yet.' }))).toBe('<p class="nothing">None yet.</p>')
  expect(shown(RowList({ rows: ['Ada'], row, label: 'People' }))).toContain('<ul class="row-list" aria-label="People">')
  expect(shown(RowList({ rows: ['Ada'], row }))).toMatch(/<a href="\/a">Ada<\/a>.*<span>one<\/span> <span>two/)
  expect(shown(Row({ title: 'Ada', time: ['Created', 0] }))).toContain('Created <time datetime="1970-01-01')
  expect(shown(Timeline({ events: [], empty: EmptyState({ title: 'Nothing' }) }))).toContain('Nothing')
  const events = [86_400_000, 1, 0].map((at) => ({ at, words: `event of ${at}` }))
  const days = shown(Timeline({ events, label: 'Events', byDay: true }))
  expect(days).toMatch(/Friday,? 2 January 1970 \(UTC\).*86400000.*Thursday,? 1 January 1970 \(UTC\).*of 1<.*of 0</)
  expect(days.match(/<ol/g)).toHaveLength(2)
  const series = [
    { day: '2026-11-22', value: 0 },
    { day: '2026-11-23', value: 4 },
  ]
  const tile = shown(StatTile({ label: 'Tokens', value: 4, series }))
  expect(tile).toContain('<caption>Tokens, by day</caption>')
  expect(tile).toContain('<polyline points="0,38 240,2"')
})

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { ListField } from '../../src/pages/list.ts'
import { deskAudit } from '../../src/pages/desk/audit.tsx'
import { deskInstalls } from '../../src/pages/desk/installs.tsx'
import { endWorld } from '../support/world.ts'
import { loginOf } from './support/enter.ts'
import { shows } from './support/page-forms.ts'
import { listTable, pageTable } from './support/page-table.ts'
import { type PlainBrowser, plainBrowser, signedInBrowser } from './support/plain-browser.ts'
import { siteMap, type Site, type Who } from './support/site-map.ts'
import { createStockedWorld, type StockedWorld } from './support/stocked-world.ts'

// Every list and every filter, from the descriptions of the lists: a new list or filter is tested without a line here.

let world: StockedWorld
let lists: readonly TriedList[]
const browsers = new Map<Who, PlainBrowser>()
beforeAll(async () => {
  world = await createStockedWorld()
  const { url } = world.server
  browsers.set('visitor', plainBrowser(url))
  for (const who of ['user', 'operator'] as const) browsers.set(who, await signedInBrowser(url, loginOf(world, who)))
  lists = await everyList()
}, 180_000)
afterAll(async () => await endWorld(world))

type Filters = Readonly<Record<string, string>>

/** Every list with the page of it that has the most rows. */
const everyList = async () => {
  const exported = new Set(pageTable(world.platform).map(({ pattern }) => pattern))
  return await Promise.all(
    [...listTable(world.platform)].map(async ([pattern, { name, fields }]) => {
      const site = siteMap.find((one) => one.pattern === pattern)
      if (site === undefined) throw new Error(`The site map has no ${pattern}.`)
      const browser = browsers.get(site.who) ?? plainBrowser(world.server.url)
      const paths = [...new Set(site.paths(world).map((path) => path.split('?', 1)[0] ?? ''))]
      const read = async (path: string, filters: Filters) => {
        const { status, text } = await browser.get(`${path}?${new URLSearchParams(filters).toString()}`)
        return { status, text, rows: rowsIn(text) }
      }
      // A list of the desk begins with what waits; its last tab is not the whole list either.
      const all = everything(fields)
      const sizes = await Promise.all(paths.map(async (path) => [path, (await read(path, all)).rows.length] as const))
      const [path = ''] = sizes.toSorted(([, some], [, others]) => others - some)[0] ?? []
      const see = async (filters: Filters) => await read(path, { ...all, ...filters })
      const lines = async (filters: Filters) => {
        const asked = `${path}?${new URLSearchParams({ ...all, ...filters }).toString()}`
        const { status, text } = await browser.submit(asked, `${path}/export`)
        expect([asked, status]).toEqual([asked, 200])
        return text.split('\r\n').slice(1, -1)
      }
      return { name, fields, path, see, lines: exported.has(`${pattern}/export`) ? lines : null }
    }),
  )
}
type TriedList = Awaited<ReturnType<typeof everyList>>[number]

/** Opens the tab of everything, if there is one. */
const everything = (fields: Readonly<Record<string, ListField>>): Filters =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, { control, options }]) =>
      control === 'tabs' && options('').some(([value]) => value === 'all') ? [[name, 'all']] : [],
    ),
  )

/** The rows of all lists of a page, each by what it shows. Times are told as "2 minutes ago", so they differ. */
const rowsIn = (text: string): readonly string[] =>
  [
    ...text.matchAll(
      /<li class="row[ "].*?(?:<\/li>|<div class="row-actions">)|<tr>(?!<th scope="col").*?<\/tr>|<div class="timeline-main">.*?<\/li>|<li class="found">.*?<\/li>/gs,
    ),
  ].map(([row]) => row.replaceAll(/(<time [^>]*>)[^<]*/g, '$1').replaceAll(/name="ticket" value="[^"]*"/g, ''))

/** What somebody could type to find one of the first rows: their words, the addresses of their links, and their times and days. */
const wordsIn = (rows: readonly string[]): readonly string[] => [
  ...new Set(
    rows
      .slice(0, 3)
      .flatMap((row) => row.match(/[\w.@:%+-]{3,}/g) ?? [])
      .flatMap((word) => (/^\d{4}-\d\d-\d\dT/.test(word) ? [word, word.slice(0, 10)] : [word])),
  ),
]

const findings = new Map<string, Promise<string | null>>()

/** The first value of a field that keeps some rows: of those that it offers, the last, and else of the words of the rows. */
const finding = async (list: TriedList, name: string, all: readonly string[]): Promise<string | null> => {
  const known = `${list.path} ${name}`
  if (!findings.has(known)) findings.set(known, find(list, name, all))
  return (await findings.get(known)) ?? null
}

const find = async (list: TriedList, name: string, all: readonly string[]): Promise<string | null> => {
  const chosen = list.fields[name]?.options('').map(([value]) => value) ?? []
  for (const value of chosen.length === 0 ? wordsIn(all) : chosen.toReversed()) {
    const { status, rows } = await list.see({ [name]: value })
    if (status === 200 && rows.length > 0) return value
  }
  return null
}

/** Whether the page says that the field has this value. Of tabs, the first one is the list without parameters. */
const says = (text: string, name: string, value: string, { control, options }: ListField): boolean => {
  if (shows(text, name, value)) return true
  if (control === 'oneOf') return !text.includes(`name="${name}"`) // a short list has no bar, and is in its usual order
  return control === 'tabs' && options('')[0]?.[0] === value && text.includes('aria-current="true"')
}

/** Why a page has no rows. */
const isExplained = (text: string): boolean =>
  /Nothing matches\.|No match so far|No \w+ in (?:development|production) yet|Correct the filter|No section of the guides|You have removed no installs/.test(
    text,
  )

/** Whether the number of rows in a list of one page, or in its open tab, is not the number that it shows. */
const miscounts = (text: string, rows: readonly string[]): boolean => {
  if (/ rel="(?:next|prev)"/.test(text)) return false
  const [, inTab = rows.length] = /aria-current="true">[^<]*<span class="count">(\d+)<\/span>/.exec(text) ?? []
  return (
    Number(inTab) !== rows.length || [...text.matchAll(/>(\d+) of (\d+) shown</g)].some(([, some, all]) => some !== all)
  )
}

describe('every list', () => {
  test('is described by its page, as is every page that can be searched', async () => {
    const described = listTable(world.platform)
    expect(described.size).toBeGreaterThan(15)
    const names = [...described.values()].map(({ name }) => name)
    expect(names).toEqual([...new Set(names)])
    const searched = async ({ who, paths }: Site) => {
      const browser = browsers.get(who) ?? plainBrowser(world.server.url)
      const texts = await Promise.all(paths(world).map(async (path) => (await browser.get(path)).text))
      return texts.some((text) => text.includes('<search'))
    }
    for (const site of siteMap.filter(({ leadsOn, isDownload }) => leadsOn !== true && isDownload !== true)) {
      if (!described.has(site.pattern)) expect([site.pattern, await searched(site)]).toEqual([site.pattern, false])
    }
  })

  test('is changed by each of its filters, says which is set, and why it has no rows', async () => {
    const faults: string[] = []
    for (const list of lists) {
      const { rows: all } = await list.see({})
      for (const [name, field] of Object.entries(list.fields)) {
        const chosen = field.options('').map(([value]) => value)
        const isTyped = chosen.length === 0
        const values = isTyped ? ['no-row-has-this', '1990-01-01', '2990-01-01'] : chosen
        const seen = await Promise.all(
          values.map(async (value) => ({ value, page: await list.see({ [name]: value }) })),
        )
        const fault = (what: string) => faults.push(`${list.name} (${list.path}): ${name} ${what}`)
        for (const {
          value,
          page: { status, text, rows },
        } of seen) {
          if (status === 200 && !says(text, name, value, field)) fault(`does not say ${value}`)
          if (status === 200 && miscounts(text, rows)) fault(`counts other rows of ${value} than it shows`)
          if (rows.length === 0 && !isExplained(text)) fault(`has no row of ${value}, and does not say why`)
        }
        if (!seen.some(({ page: { rows, text } }) => rows.join() !== all.join() || isExplained(text)))
          fault('changes nothing')
        if (!isTyped) continue
        if (!seen.some(({ page: { text } }) => isExplained(text))) fault('finds everything')
        if (all.length > 0 && (await finding(list, name, all)) === null) fault('finds nothing')
      }
    }
    expect(faults).toEqual([])
  }, 120_000)

  test('refuses a value that it does not offer', async () => {
    for (const { name: list, fields, see } of lists) {
      for (const [name, { options }] of Object.entries(fields)) {
        if (options('~').every(([value]) => value !== '~') && options('').length > 0)
          expect([list, name, (await see({ [name]: '~' })).status]).toEqual([list, name, 400])
      }
    }
  })

  test('has a file with the rows of its page, whatever filter is set', async () => {
    const exported = lists.flatMap(({ lines, ...list }) => (lines === null ? [] : [{ ...list, lines }]))
    expect(exported.length).toBeGreaterThan(3)
    for (const { lines, ...list } of exported) {
      const { rows: all } = await list.see({})
      const whole = await lines({})
      for (const [name, { control }] of Object.entries(list.fields)) {
        const found = await finding({ ...list, lines }, name, all)
        const what = `${list.name}: ${name}=${found}`
        const { rows } = found === null ? { rows: [] } : await list.see({ [name]: found })
        const inFile = found === null ? [] : await lines({ [name]: found })
        if (rows.length < 50) expect([what, inFile.length]).toEqual([what, rows.length])
        if (control === 'oneOf')
          expect([what, inFile.length < 2 || inFile.join() !== whole.join()]).toEqual([what, true])
      }
    }
  }, 120_000)
})

test('a link to a list can have only filters and values of the list', () => {
  expect(deskAudit.to({ target: 'svk_1' })).toBe('/desk/audit?target=svk_1')
  expect(deskInstalls.to({ app: 'my-app', status: 'all' })).toBe('/desk/installs?app=my-app&status=all')
  // @ts-expect-error the audit log has no such filter
  deskAudit.to({ about: 'svk_1' })
  // @ts-expect-error installs have no such status
  deskInstalls.to({ status: 'gone' })
})

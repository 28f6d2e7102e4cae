import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { needs, programAt } from '../support/needs.ts'
import { type RunningServer, startServer } from '../support/running-server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { runHere } from './support/run.ts'

type Rule = { alert: string; expr: string; labels: { severity: string }; annotations: { summary: string } }

let server: RunningServer
let printed: string
let rules: readonly Rule[]
beforeAll(async () => {
  server = await startServer()
  const { exitCode, stdout, stderr } = await runHere(['print', 'alerts'])
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  printed = stdout
  const file: unknown = Bun.YAML.parse(stdout)
  expect(file).toMatchObject({ groups: [{ name: 'app-platform' }] })
  rules = Object(file).groups[0].rules
})
afterAll(async () => void (await server.stop()))

test('every alert has a unique name, a severity and a sentence', () => {
  expect(rules.length).toBeGreaterThan(10)
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length)
  for (const { alert, labels, annotations } of rules) {
    expect(alert).toMatch(/^AppPlatform[A-Z]\w+$/)
    expect(['critical', 'warning']).toContain(labels.severity)
    expect(annotations.summary).toMatch(/^[A-Z1].+\.$/)
  }
})

test('the alerts use metrics that the server has, of its own scrape job only', async () => {
  const text = await (await fetch(`${server.url}/metrics`)).text()
  const typed = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].flatMap(([, name = '', type]) =>
    type === 'histogram' ? [`${name}_bucket`] : [name],
  )
  const metrics = new Set(['up', ...typed])
  for (const { expr } of rules) {
    const selected = [...expr.matchAll(/([a-z_]+)\{([^}]*)\}/g)]
    expect(selected.length).toBeGreaterThan(0)
    for (const [, name = '', labels] of selected) {
      expect([expr, name, metrics.has(name)]).toEqual([expr, name, true])
      expect(labels).toStartWith('job="app-platform"')
    }
  }
})

needs('promtool').test('Prometheus accepts the alerts', async () => {
  const file = join(temporaryFolder(), 'alerts.yml')
  await Bun.write(file, printed)
  expect(Bun.spawnSync([programAt('promtool'), 'check', 'rules', '--lint=all', '--lint-fatal', file]).exitCode).toBe(0)
})

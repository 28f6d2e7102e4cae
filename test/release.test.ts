import Ajv, { type AnySchema } from 'ajv'
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import packageFile from '../package.json' with { type: 'json' }
import { libraryVersion } from '../src/client/transport.ts'
import parts from '../src/release/parts/package.json' with { type: 'json' }
import { changesIn } from '../src/release/release.ts'
import { billOfMaterials } from '../src/release/sbom.ts'
import { guide } from './support/documents.ts'

const root = join(import.meta.dir, '..')

test('the version is a semantic one that the client library shares and the changelog describes', async () => {
  const { version } = packageFile
  expect(version).toMatch(/^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?$/)
  expect(libraryVersion).toBe(version)
  const changes = changesIn(await guide('changelog'), version)
  expect(changes.length).toBeGreaterThan(100)
  expect(changes).not.toMatch(/\]\((?!https:)/) // no links to guides, which are not beside the notes
  expect(() => changesIn('# Changelog\n\n## 0.2.0\n\nText.\n', '0.3.0')).toThrow('no section "## 0.3.0"')
})

test('files for other machines contain the versions of Bun and bcrypt that are tested here', () => {
  for (const [name, version] of Object.entries(parts.dependencies)) {
    const tested = name.startsWith('@oven/') ? Bun.version : packageFile.dependencies['@node-rs/bcrypt']
    expect([name, version]).toEqual([name, tested])
  }
})

const schemaOf = (name: string): AnySchema =>
  JSON.parse(
    readFileSync(
      join(root, `node_modules/@cyclonedx/cyclonedx-library/res/schema/${name}.SNAPSHOT.schema.json`),
      'utf8',
    ),
  )

test('the bill of materials is valid CycloneDX 1.6, and has what runs in the program and nothing else', () => {
  const subject = { version: '0.2.0', commit: '0123456789ab', at: new Date('2026-11-23T12:00:00Z') }
  const bill = billOfMaterials(root, Object.keys(packageFile.dependencies), subject)
  const ajv = new Ajv({ strict: false, validateFormats: false })
  for (const name of ['spdx', 'jsf-0.82']) {
    ajv.addSchema(schemaOf(name), `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`)
  }
  const isValid = ajv.compile(schemaOf('bom-1.6'))
  expect(isValid(bill) ? [] : isValid.errors).toEqual([])
  expect(isValid({ ...bill, components: [{ type: 'library' }] })).toBe(false)
  const names = new Set(bill.components.map(({ name }) => name))
  const wanted = [...Object.keys(packageFile.dependencies), ...Object.keys(parts.dependencies), 'jose', 'file-type']
  expect(wanted.filter((name) => !names.has(name))).toEqual([])
  expect(['typescript', 'playwright-core', 'ajv'].filter((name) => names.has(name))).toEqual([])
  for (const { hashes } of bill.components) {
    expect(hashes).toEqual([{ alg: 'SHA-512', content: expect.stringMatching(/^[0-9a-f]{128}$/) }])
  }
  const known = new Set(['pkg:generic/app-platform@0.2.0', ...bill.components.map((each) => each['bom-ref'])])
  const named = bill.dependencies.flatMap(({ ref, dependsOn }) => dependsOn.concat(ref))
  expect(named.filter((ref) => !known.has(ref))).toEqual([])
})

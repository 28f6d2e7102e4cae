import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CommandFailed } from '../../src/cli/output.ts'
import { readManifest } from '../../src/cli/developer/create-version.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const written = (text: string | Uint8Array): string => {
  const file = join(temporaryFolder(), 'app.json')
  writeFileSync(file, text)
  return file
}

/** The messages about a manifest, without the name of the file. */
const faultsOf = (text: string | Uint8Array): readonly string[] => {
  const file = written(text)
  try {
    readManifest(file)
    return []
  } catch (error) {
    if (error instanceof CommandFailed) return error.sentences.map((sentence) => sentence.replace(`${file}:`, ''))
    throw error
  }
}

test('a manifest is read unchanged, with its scopes', () => {
  const whole = {
    name: 'Newsletter',
    description: 'Letters',
    scopes: ['site:read', 'profile:read'],
    embedUrl: 'https://newsletter.example/embed?x=1',
    supportUrl: 'mailto:help@newsletter.example',
    permissions: { own: [1, null] },
  }
  expect(readManifest(written(JSON.stringify(whole)))).toEqual({ content: whole, scopes: whole.scopes, warnings: [] })
  expect(readManifest(written('\ufeff{"name":"With a mark"}'))).toMatchObject({ scopes: [] })
})

test('a syntax error names line and column', () => {
  const cases: readonly (readonly [text: string, place: string])[] = [
    ['', '1:1'],
    ['{"name":"x",}', '1:13'],
    ['{\n  "name": "x"\n  "scopes": []\n}', '3:3'],
    ['{\r\n  "name": "x",\r\n  scopes: []\r\n}', '3:3'],
    ['{"name":"x"} x', '1:14'],
    ['{"name":"x" // why\n}', '1:13'],
    ['{"name":"a\nb"}', '1:9'],
    ['{"name": "ü😀", "x": 01}', '1:23'], // as editors count: an emoji is two columns
    ['["name"]', '1:1'],
    ['null', '1:1'],
  ]
  for (const [text, place] of cases) {
    const [fault = ''] = faultsOf(text)
    expect([text, fault.slice(0, place.length + 1)]).toEqual([text, `${place}:`])
  }
})

test('all faults of all fields are reported at once, in order, each with its place', () => {
  const text = `{
  "name": " ",
  "description": 3,
  "scopes": ["site:read", "site:raed", "customers:read", 1, "site:read store:read"],
  "embedUrl": "http://newsletter.example",
  "supportUrl": "https://user:secret@newsletter.example",
  "name": "again"
}`
  expect(faultsOf(text).map((fault) => fault.split(' ')[0])).toEqual([
    '2:11:',
    '3:18:',
    '4:27:',
    '4:40:',
    '4:58:',
    '4:61:',
    '5:15:',
    '6:17:',
    '7:3:',
  ])
  expect(faultsOf('{"scopes":"site:read"}')).toEqual([
    '1:1: The manifest has no name.',
    '1:11: scopes must be a list of scope names.',
  ])
  expect(faultsOf(text).join()).not.toContain('user:secret')
})

const deep = (levels: number) => `{"name":"x","a":${'['.repeat(levels)}${']'.repeat(levels)}}`

test('values that programs read differently are refused with their place, which the server cannot name', () => {
  const cases: readonly (readonly [text: string, fault: string])[] = [
    ['{"name":"x","a":[{"b":1,\n"b":2}]}', '2:1: This field occurs twice.'],
    ['{"name":"x","a":{"b":"\\ud83d"}}', '1:22: This text contains a NUL or half of a character.'],
    ['{"name":"x","a\\u0000":1}', '1:13: This text contains a NUL or half of a character.'],
    ['{"name":"x","__proto__":{}}', '1:13: No field can have this name.'],
    ['{"name":"x","a":1e999}', '1:17: This number is too large.'],
    ['{"name":"x","a":[1,9007199254740993]}', '1:20: This number would be rounded: write it as a text.'],
    [deep(31), '1:47: This is more than 31 levels deep.'],
    [deep(100_000), '1:1: The JSON is nested too deeply.'],
  ]
  for (const [text, fault] of cases) expect(faultsOf(text)).toEqual([fault])
  expect(faultsOf(deep(30))).toEqual([])
  expect(faultsOf('{"name":"x","a":[{"b":1},{"b":2}]}')).toEqual([])
  expect(faultsOf('{"name":"x","a":[9007199254740991,1e300,0.5]}')).toEqual([])
})

test('an unknown field is allowed, with a warning if it looks like a misspelling', () => {
  const { warnings } = readManifest(
    written('{"name":"x","scope":[],"embed_URL":"x","theme":{},"nam":1,"constructor":1}'),
  )
  expect(warnings.map((warning) => warning.replace(/^.*app\.json:/, ''))).toEqual([
    '1:13: This field is unknown. Did you mean scopes?',
    '1:24: This field is unknown. Did you mean embedUrl?',
  ])
})

test('a manifest that cannot be read is refused in one sentence', () => {
  expect(faultsOf(new Uint8Array([0x7b, 0xff]))[0]).toContain('is not UTF-8')
  expect(faultsOf(' '.repeat(300_000))[0]).toContain('larger than 256 KiB')
  expect(() => readManifest(join(temporaryFolder(), 'app.json'))).toThrow('There is no manifest')
  expect(() => readManifest(temporaryFolder())).toThrow('is not a file')
})

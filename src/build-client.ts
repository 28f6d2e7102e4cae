/** `bun run build:client`: the client library as an npm package, in dist/client. */
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TSchema } from '@sinclair/typebox'
import { currentApiVersion } from './domain/api-version.ts'
import { errorCodes } from './domain/errors.ts'
import { webhookKinds } from './domain/webhook-event.ts'
import { libraryVersion } from './client/transport.ts'

const root = join(import.meta.dir, '..')
const source = join(root, 'src/client')

const unionOfTexts = (texts: readonly string[]): string => texts.map((text) => JSON.stringify(text)).join(' | ')

/** A schema of the contract as a TypeScript type. @throws Error for a kind of schema that the contract does not use yet */
const typeOf = (schema: TSchema): string => {
  if (schema['const'] !== undefined) return JSON.stringify(schema['const'])
  if (Array.isArray(schema['anyOf'])) return `(${schema['anyOf'].map(typeOf).join(' | ')})`
  switch (schema['type']) {
    case 'string':
    case 'boolean':
    case 'number':
    case 'null':
      return schema['type']
    case 'integer':
      return 'number'
    case 'array':
      return `${typeOf(schema['items'])}[]`
    case 'object':
      return objectTypeOf(schema)
    case undefined:
      return schema['not'] === undefined ? 'unknown' : 'never'
    default:
      throw new Error(`The declarations know no schema of the type ${schema['type']}.`)
  }
}

const objectTypeOf = ({ properties, required = [], patternProperties }: TSchema): string => {
  if (properties === undefined) {
    const [values] = Object.values<TSchema>(patternProperties ?? {})
    return `{ [name: string]: ${values === undefined ? 'unknown' : typeOf(values)} }`
  }
  const fields = Object.entries<TSchema>(properties).map(([name, schema]) => {
    const description = typeof schema['description'] === 'string' ? `/** ${schema['description']} */ ` : ''
    const key = /^\w+$/.test(name) ? name : JSON.stringify(name)
    return `  ${description}${key}${required.includes(name) ? '' : '?'}: ${typeOf(schema)};\n`
  })
  return `{\n${fields.join('')}}`
}

/** The types of the contract, written out, so that the package needs no TypeBox. */
const contractDeclarations = async (): Promise<string> => {
  const text = readFileSync(join(source, 'contract-types.ts'), 'utf8')
  const modules = new Map<string, Readonly<Record<string, unknown>>>()
  for (const [, names = '', path = ''] of text.matchAll(/^import type (.+) from '(\.[^']+)'$/gm)) {
    const [name = ''] = /\w+(?= \}$|$)/.exec(names) ?? []
    const module: Readonly<Record<string, unknown>> = await import(join(source, path))
    modules.set(name, names.startsWith('*') ? module : { '': module[name] })
  }
  const valueOf = (path: string): unknown => {
    const [name = '', member = ''] = path.split('.')
    return modules.get(name)?.[member]
  }
  return text
    .replaceAll(/^(?:import|\/\*\* The requests).*\n/gm, '')
    .replaceAll(/Static<typeof ([\w.]+)>/g, (_, path: string) => {
      const schema = valueOf(path)
      if (!isSchema(schema)) throw new Error(`${path} is not a schema.`)
      return typeOf(schema)
    })
    .replaceAll(/\(typeof ([\w.]+)\)\[number\]/g, (_, path: string) => {
      const texts = valueOf(path)
      if (!Array.isArray(texts)) throw new Error(`${path} is not a list.`)
      return unionOfTexts(texts.map(String))
    })
}

const isSchema = (value: unknown): value is TSchema => typeof value === 'object' && value !== null

/** The declarations in a file, each with its comment. */
const declarationsIn = (text: string): readonly string[] =>
  text
    .replaceAll(/^import [\s\S]*?from '[^']+';\n/gm, '')
    .replaceAll(/^export (?:type )?(?:\*|\{)[\s\S]*?;\n/gm, '')
    .split(/^(?=\/\*\*|export |declare |type )/m)
    .reduce<string[]>((parts, part) => {
      const last = parts.at(-1)
      const isComment = /^\/\*\*[\s\S]*\*\/\n$/.test(last ?? '')
      const isInside = !/^(?:\/\*\*[\s\S]*?\*\/\s*)?(?:$|export |declare |type )/.test(part)
      if (last !== undefined && (isComment || isInside)) parts[parts.length - 1] = last + part
      else parts.push(part)
      return parts
    }, [])
    .map((part) => part.replace(/^export (?:declare )?(?=type|interface)/m, '').replace(/^export (?=declare)/m, ''))
    .map((part) => part.replaceAll(/import\('[^']+'\)\.|import\("[^"]+"\)\.|\bcontract\./g, ''))

const nameIn = (declaration: string): string =>
  /^(?:declare )?(?:const|type|class|function|interface) (\w+)/m.exec(declaration)?.[1] ?? ''

/** The types of the domain that the client names, written out. */
const domain = {
  'api-version.ts': `export declare const currentApiVersion: ${JSON.stringify(currentApiVersion)};\n`,
  'errors.ts': `export type ErrorCode = ${unionOfTexts(errorCodes)};\n`,
  'webhook-event.ts': `export type WebhookKind = ${unionOfTexts(webhookKinds)};\n`,
}

/**
 * One file of declarations with everything that the package exports, and what that depends on. The compiler sees a copy of the
 * library in which the types of the contract are written out: from schemas, it would spell out each type wherever it is used.
 */
const declarationsOf = async (folder: string): Promise<string> => {
  const copy = join(folder, 'src/client')
  const contract = await contractDeclarations()
  cpSync(source, copy, { recursive: true })
  writeFileSync(join(copy, 'contract-types.ts'), contract)
  mkdirSync(join(folder, 'src/domain'))
  for (const [file, text] of Object.entries(domain)) writeFileSync(join(folder, 'src/domain', file), text)
  const settings = join(folder, 'tsconfig.json')
  const compilerOptions = {
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    outDir: join(folder, 'made'),
    rootDir: folder,
    typeRoots: [join(root, 'node_modules')],
  }
  const project = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions,
    files: [join(copy, 'index.ts')],
    include: [],
  }
  writeFileSync(settings, JSON.stringify(project))
  await Bun.$`${process.execPath} ${join(root, 'node_modules/typescript/lib/tsc.js')} -p ${settings}`.quiet()
  const made = join(folder, 'made/src/client')
  const texts = readdirSync(made)
    .filter((file) => file !== 'index.d.ts' && file !== 'contract-types.d.ts')
    .map((file) => readFileSync(join(made, file), 'utf8'))
  const all = new Map(
    [...texts, contract, ...Object.values(domain)].flatMap(declarationsIn).map((part) => [nameIn(part), part]),
  )

  const listed = [...readFileSync(join(made, 'index.d.ts'), 'utf8').matchAll(/^export (type )?\{([^}]*)\}/gm)]
  const exported = listed
    .flatMap(([, type = '', names = '']) =>
      names.split(',').flatMap((name) => (name.trim() === '' ? [] : [`${type}${name.trim()}`])),
    )
    .concat([...contract.matchAll(/^export type (\w+)/gm)].map(([, name = '']) => `type ${name}`))
  const reached = new Set<string>()
  const queue = exported.map((name) => name.replace('type ', ''))
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    const declaration = all.get(name)
    if (declaration === undefined || reached.has(name)) continue
    reached.add(name)
    queue.push(...(declaration.match(/\b\w+\b/g) ?? []))
  }
  const kept = [...all].filter(([name]) => reached.has(name)).map(([, declaration]) => declaration.trim())
  return `${kept.join('\n')}\nexport { ${exported.join(', ')} };\n`
}

/** The code of a module as CommonJS. @throws Error if the module needs another, or exports otherwise than in its last statement */
const commonJsOf = (code: string): string => {
  const [statement, names] = /export\s*\{([^{}]*)\};?\s*$/.exec(code) ?? []
  if (statement === undefined || names === undefined || new Bun.Transpiler().scanImports(code).length > 0)
    throw new Error('The library is not one module with one list of exports.')
  const exports = names.split(',').map((name) => {
    const [inside = '', outside = inside] = name.trim().split(' as ')
    return `exports.${outside} = ${inside};\n`
  })
  return `"use strict";\n${code.slice(0, -statement.length)}${exports.join('')}`
}

const manifest = {
  name: 'app-platform-client',
  version: libraryVersion,
  description: 'A typed client for App Platform: for the backends of apps, for builders, and for pages in a frame.',
  license: 'MIT',
  type: 'commonjs',
  sideEffects: false,
  engines: { node: '>=20.3' },
  main: './index.js',
  module: './index.mjs',
  types: './index.d.ts',
  exports: {
    '.': {
      import: { types: './index.d.mts', default: './index.mjs' },
      require: { types: './index.d.ts', default: './index.js' },
    },
    './package.json': './package.json',
  },
  files: ['index.js', 'index.mjs', 'index.d.ts', 'index.d.mts'],
}

/**
 * Builds the package in this folder, which is emptied first.
 * @throws AggregateError with the messages of the bundler; ShellError with those of the compiler
 */
export const buildClientPackage = async (target: string): Promise<void> => {
  rmSync(target, { recursive: true, force: true })
  mkdirSync(target, { recursive: true })
  // Not minified: an error that nobody catches prints the line where it was thrown.
  const { outputs } = await Bun.build({
    entrypoints: [join(source, 'index.ts')],
    target: 'node',
    format: 'esm',
  })
  const code = (await outputs[0]?.text()) ?? ''
  const folder = mkdtempSync(join(tmpdir(), 'app-platform-client-'))
  const files = {
    'index.js': commonJsOf(code),
    'index.mjs': code,
    'index.d.mts': "export * from './index.js'\n",
    'package.json': `${JSON.stringify(manifest, null, 2)}\n`,
  }
  try {
    writeFileSync(join(target, 'index.d.ts'), await declarationsOf(folder))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(target, name), text)
  copyFileSync(join(root, 'LICENSE'), join(target, 'LICENSE'))
  copyFileSync(join(source, 'README.md'), join(target, 'README.md'))
}

if (import.meta.main) {
  await buildClientPackage(join(root, 'dist/client'))
  process.stdout.write(`dist/client  ${manifest.name} ${manifest.version}\n`)
}

import { parse } from 'jsonc-parser'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

type Locked = Readonly<Record<string, readonly [id: string, registry: string, facts: Facts, integrity: string]>>
type Facts = {
  readonly dependencies?: Names
  readonly peerDependencies?: Names
  readonly optionalPeers?: readonly string[]
}
type Names = Readonly<Record<string, string>>

const lockedIn = (folder: string): Locked => parse(readFileSync(join(folder, 'bun.lock'), 'utf8')).packages

const namesOf = ({ dependencies, peerDependencies, optionalPeers = [] }: Facts): readonly string[] => [
  ...Object.keys(dependencies ?? {}),
  ...Object.keys(peerDependencies ?? {}).filter((name) => !optionalPeers.includes(name)),
]

/** The key of a package as another one sees it: its own copy, then those of its parents, then the shared one. */
const keyFor = (locked: Locked, name: string, from: string): string | null => {
  for (let place = from; place !== ''; place = place.slice(0, Math.max(0, place.lastIndexOf('/')))) {
    if (Object.hasOwn(locked, `${place}/${name}`)) return `${place}/${name}`
  }
  return Object.hasOwn(locked, name) ? name : null
}

/** Everything that these packages need, with themselves. */
const reachable = (locked: Locked, roots: readonly string[]): readonly string[] => {
  const found = new Set(roots)
  for (const key of found) {
    const [, , facts] = locked[key] ?? []
    for (const name of namesOf(facts ?? {})) {
      const next = keyFor(locked, name, key)
      if (next !== null) found.add(next)
    }
  }
  return [...found].toSorted()
}

const urlOf = (id: string): string => {
  const at = id.lastIndexOf('@')
  return `pkg:npm/${id.slice(0, at).replace('@', '%40')}@${id.slice(at + 1)}`
}

const component = (key: string, locked: Locked) => {
  const [id = key, , , integrity = ''] = locked[key] ?? []
  const at = id.lastIndexOf('@')
  const [algorithm = '', hash = ''] = integrity.split('-')
  return {
    type: 'library',
    'bom-ref': urlOf(id),
    name: id.slice(0, at),
    version: id.slice(at + 1),
    scope: 'required',
    hashes: [{ alg: algorithm.replace('sha', 'SHA-'), content: Buffer.from(hash, 'base64').toString('hex') }],
    purl: urlOf(id),
  }
}

type Subject = { readonly version: string; readonly commit: string; readonly at: Date }

/**
 * The software bill of materials of a release, as CycloneDX 1.6: the packages that run in the program, from its lockfile, and
 * what its files contain for their machines, from `parts/bun.lock`.
 */
export const billOfMaterials = (root: string, direct: readonly string[], { version, commit, at }: Subject) => {
  const locked = lockedIn(root)
  const parts = lockedIn(join(import.meta.dir, 'parts'))
  const keys = reachable(locked, direct)
  const program = `pkg:generic/app-platform@${version}`
  const idOf = (key: string) => urlOf(locked[key]?.[0] ?? key)
  const needsOf = (key: string) =>
    namesOf(locked[key]?.[2] ?? {}).flatMap((name) => {
      const needed = keyFor(locked, name, key)
      return needed === null ? [] : [idOf(needed)]
    })
  const ofMachines = Object.keys(parts).map((key) => component(key, parts))
  const dependencies = new Map([
    [program, [...direct.map(idOf), ...ofMachines.map(({ purl }) => purl)]],
    ...keys.map((key) => [idOf(key), needsOf(key)] as const),
  ])
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      timestamp: at.toISOString(),
      component: {
        type: 'application',
        'bom-ref': program,
        name: 'app-platform',
        version,
        licenses: [{ license: { id: 'MIT' } }],
        purl: program,
        properties: [{ name: 'commit', value: commit }],
      },
    },
    components: [...new Map(keys.map((key) => [idOf(key), component(key, locked)])).values(), ...ofMachines],
    dependencies: [...dependencies].map(([ref, needed]) => ({ ref, dependsOn: [...new Set(needed)].toSorted() })),
  }
}

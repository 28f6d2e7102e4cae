/** `bun run release`: the files of a release, in dist/release. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { currentCommit } from '../build.ts'
import { buildFor, installParts, machines, ReleaseRefused } from './machines.ts'
import { billOfMaterials } from './sbom.ts'

const root = join(import.meta.dir, '../..')

/** The section of the changelog about a version, without links to guides, which are not beside the notes. @throws ReleaseRefused */
export const changesIn = (changelog: string, version: string): string => {
  const section = changelog.split(/^## /m).find((part) => part.startsWith(`${version}\n`))
  if (section === undefined) throw new ReleaseRefused(`The changelog has no section "## ${version}": write it first.`)
  return section
    .slice(version.length)
    .replaceAll(/\[([^\]]+)\]\((?!https:)[^)]*\)/g, '$1')
    .trim()
}

const notesText = (version: string, changes: string, sums: readonly string[]): string => `# App Platform ${version}

${changes.replaceAll('\n### ', '\n## ')}

## Files

Check a file with \`sha256sum --check --ignore-missing SHA256SUMS\`. \`app-platform-${version}.cdx.json\` lists the packages in it.
The file for macOS has an ad hoc signature and is not notarised: after a download, run
\`xattr -d com.apple.quarantine FILE\`, or sign it with your own identity: \`codesign --force --sign IDENTITY FILE\`.

\`\`\`text
${sums.join('\n')}
\`\`\`
`

type Package = { readonly version: string; readonly dependencies: Readonly<Record<string, string>> }

/**
 * Writes the files of a release into a folder: the program for every machine, SHA256SUMS, the bill of materials, the notes.
 * @throws ReleaseRefused
 */
const makeRelease = async (folder: string, of: typeof machines = machines) => {
  const { version, dependencies }: Package = await Bun.file(join(root, 'package.json')).json()
  const changes = changesIn(readFileSync(join(root, 'src/guides/changelog.md'), 'utf8'), version)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const parts = join(root, 'dist/parts') // always the same, because the files contain the path
  rmSync(parts, { recursive: true, force: true })
  try {
    await installParts(parts)
    const files: string[] = []
    for (const machine of of) {
      const { file } = await buildFor(machine, parts, join(folder, `app-platform-${version}-${machine.name}`))
      files.push(file)
    }
    const bill = join(folder, `app-platform-${version}.cdx.json`)
    const subject = { version, ...(await currentCommit()) }
    writeFileSync(bill, `${JSON.stringify(billOfMaterials(root, Object.keys(dependencies), subject), null, 2)}\n`)
    const sums = [...files, bill].map((file) => `${Bun.SHA256.hash(readFileSync(file), 'hex')}  ${basename(file)}`)
    writeFileSync(join(folder, 'SHA256SUMS'), `${sums.join('\n')}\n`)
    writeFileSync(join(folder, 'NOTES.md'), notesText(version, changes, sums))
    return { version, files: [...files, bill] }
  } finally {
    rmSync(parts, { recursive: true, force: true })
  }
}

/** A release can be made again from its commit. */
const prepare = async (): Promise<void> => {
  const { commit } = await currentCommit()
  if (!/^[0-9a-f]+$/.test(commit)) throw new ReleaseRefused('Files differ from the last commit: commit them first.')
}

if (import.meta.main) {
  try {
    await prepare()
    const { version, files } = await makeRelease(join(root, 'dist/release'))
    for (const file of files) process.stdout.write(`dist/release/${basename(file)}\n`)
    process.stdout.write(`dist/release/SHA256SUMS and NOTES.md. Release ${version} is complete.\n`)
  } catch (error) {
    if (!(error instanceof ReleaseRefused)) throw error
    process.stderr.write(`error: ${error.message}\n`)
    process.exitCode = 1
  }
}

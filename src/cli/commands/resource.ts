import type { Command } from 'commander'
import { createReadStream, fstatSync, statSync } from 'node:fs'
import { importResources } from '../../operations/resources/import-resources.ts'
import { type CommonFlags, databaseCommand } from '../operator-command.ts'
import { asOperator } from '../operator-session.ts'
import { answer, CommandFailed } from '../output.ts'
import { type ProgressBar, startProgressBar } from '../progress-bar.ts'

const lineForm = `
One JSON object per line:
  {"owner":"ada@example.com","kind":"site","name":"Garden","slug":"garden","status":"published",
   "createdAt":"2026-08-01T12:00:00.000Z","updatedAt":…,"publishedAt":…}
kind is site or store, status is draft, published or archived; the times may be left out, and published without a
time means now. Instead of owner, ownerExternalId names the owner by the builder's own ID; externalId is that of the
website or store. A line whose externalId exists already updates that resource, and so does one whose owner, kind
and slug exist. All lines are stored or, when some are wrong, none; the error names the lines. --prune also removes
the builder's websites and stores (those with an externalId) that no line is about, and ends the installs on them;
it takes no pipe, because an export that was cut off there looks like a whole one.`

export const addResourceCommands = (program: Command): void => {
  const group = program.command('resource').description('Websites and stores that apps may list.')
  databaseCommand(group, 'import <file>', 'Create or update websites and stores from a JSON Lines file; - reads stdin.')
    .option('--prune', 'remove what has an externalId and is not in the file')
    .addHelpText('after', lineForm)
    .action(importFile)
}

const importFile = async (file: string, flags: CommonFlags & { readonly prune?: true }): Promise<void> => {
  const source = openSource(file)
  if (flags.prune === true && source.bytes === null) throw new CommandFailed([pipeWithPrune])
  const bar = startProgressBar(source.bytes)
  const input = {
    chunks: counted(source.chunks, bar),
    isOfBuilder: false,
    prunes: flags.prune === true,
    progress: (lines: number) => bar.say(`${lines.toLocaleString('en')} lines`),
  }
  const value = await asOperator(flags, async (session) => await importResources(...session, input)).finally(bar.end)
  answer(flags, { value, text: `Created ${value.created}, updated ${value.updated}, removed ${value.removed}.` })
}

const pipeWithPrune =
  '--prune needs a file: in a pipe, an export that was cut off looks like a whole one, and what it lacks would be removed.'

type Source = { readonly chunks: AsyncIterable<Uint8Array>; readonly bytes: number | null }

const openSource = (file: string): Source => {
  const found = file === '-' ? fstatSync(0) : statSync(file, { throwIfNoEntry: false })
  if (found === undefined) throw new CommandFailed([`There is no file ${file}.`])
  if (found.isDirectory()) throw new CommandFailed([`${file} is a folder, not a file.`])
  const chunks = file === '-' ? Bun.stdin.stream() : pieces(file)
  return { chunks, bytes: found.isFile() ? found.size : null }
}

/** Opened with the first read: nobody would hear of an error before. */
async function* pieces(file: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(file)
}

async function* counted(chunks: AsyncIterable<Uint8Array>, bar: ProgressBar): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    bar.advance(chunk.length)
    yield chunk
  }
}

import { type Command, InvalidArgumentError } from 'commander'
import type { VersionStep } from '../../domain/version.ts'
import { listEveryVersion } from '../../operations/versions/lists.ts'
import { moveVersion, type VersionMove } from '../../operations/versions/move-version.ts'
import type { RejectionItem } from '../../operations/versions/version-record.ts'
import { asOperator, type CommonFlags, operatorCommand } from '../operator-command.ts'
import { answerList, answerRecord } from '../output.ts'

type RejectFlags = CommonFlags & { readonly message: string; readonly item: readonly RejectionItem[] }

const life = `
draft -> submitted -> approved -> active -> superseded
           | withdraw: back to draft
           | reject: rejected, for good`

export const addVersionCommands = (program: Command): void => {
  const group = program.command('version').description('Versions of apps and their review.').addHelpText('after', life)
  for (const [step, description] of steps) {
    operatorCommand(group, `${step} <slug> <version>`, description).action(
      async (slug: string, version: string, flags: CommonFlags) =>
        await move(flags, { slug, version, step, rejection: null }),
    )
  }
  operatorCommand(group, 'reject <slug> <version>', 'Reject a submitted version for good, saying why.')
    .requiredOption('--message <text>', 'why')
    .option('--item <path=message>', 'one thing to fix; may be given several times', readItem, [])
    .action(async (slug: string, version: string, flags: RejectFlags) => {
      const rejection = { message: flags.message, items: flags.item }
      await move(flags, { slug, version, step: 'reject', rejection })
    })
  operatorCommand(group, 'list <slug>', 'List the versions of an app, newest first.').action(list)
}

const steps: readonly (readonly [step: Exclude<VersionStep, 'reject'>, description: string])[] = [
  ['submit', 'Submit a draft for review; its content can no longer change.'],
  ['withdraw', 'Take a submitted version back; it is a draft again.'],
  ['approve', 'Approve a submitted version.'],
  ['activate', 'Make an approved version the active one; the one before it is superseded.'],
]

const move = async (flags: CommonFlags, step: VersionMove): Promise<void> => {
  const version = await asOperator(
    flags,
    async ({ platform, trace, actor }) => await moveVersion(platform, trace, actor, step),
  )
  answerRecord(flags, version)
}

const list = async (slug: string, flags: CommonFlags): Promise<void> => {
  const versions = await asOperator(flags, async ({ platform }) => await listEveryVersion(platform, slug))
  answerList(flags, versions, {
    Version: 'version',
    Status: 'status',
    Revision: 'revision',
    Scopes: 'scopes',
    'In development': 'current.development',
    'In production': 'current.production',
    Created: 'createdAt',
    ID: 'id',
  })
}

const readItem = (text: string, before: readonly RejectionItem[]): readonly RejectionItem[] => {
  const [, path, message] = /^([^=]+)=(.+)$/s.exec(text) ?? []
  if (path === undefined || message === undefined) {
    throw new InvalidArgumentError('It must be path=message, such as manifest.name=The name is missing.')
  }
  return [...before, { path, message }]
}

import { type Command, InvalidArgumentError } from 'commander'
import type { VersionStep } from '../../domain/version.ts'
import { listEveryVersion } from '../../operations/versions/lists.ts'
import { moveVersion } from '../../operations/versions/move-version.ts'
import type { RejectionItem } from '../../operations/versions/version-record.ts'
import { operatorCommands, type OperatorSession } from '../operator-command.ts'
import { listAnswer, recordAnswer } from '../output.ts'

const life = `
draft -> submitted -> approved -> active -> superseded
           | withdraw: back to draft
           | reject: rejected, for good`

export const addVersionCommands = (program: Command): void => {
  const operator = operatorCommands(
    program.command('version').description('Versions of apps and their review.').addHelpText('after', life),
  )
  for (const [step, description] of steps) {
    operator(`${step} <slug> <version>`, description, async (session, slug: string, version: string) =>
      recordAnswer(await moveVersion(...session, { slug, version, step, rejection: null })),
    )
  }
  operator('reject <slug> <version>', 'Reject a submitted version for good, saying why.', reject)
    .requiredOption('--message <text>', 'why')
    .option('--item <path=message>', 'one thing to fix; may be given several times', readItem, [])
  operator('list <slug>', 'List the versions of an app, newest first.', async ([platform], slug: string) =>
    listAnswer(await listEveryVersion(platform, slug), {
      Version: 'version',
      Status: 'status',
      Revision: 'revision',
      Scopes: 'scopes',
      'In development': 'current.development',
      'In production': 'current.production',
      Created: 'createdAt',
      ID: 'id',
    }),
  )
}

const steps: readonly (readonly [step: Exclude<VersionStep, 'reject'>, description: string])[] = [
  ['submit', 'Submit a draft for review; its content can no longer change.'],
  ['withdraw', 'Withdraw a submitted version; it becomes a draft again.'],
  ['approve', 'Approve a submitted version.'],
  ['activate', 'Make an approved version the active one; the one before it is superseded.'],
]

type RejectFlags = { readonly message: string; readonly item: readonly RejectionItem[] }

const reject = async (session: OperatorSession, slug: string, version: string, { message, item }: RejectFlags) =>
  recordAnswer(await moveVersion(...session, { slug, version, step: 'reject', rejection: { message, items: item } }))

const readItem = (text: string, before: readonly RejectionItem[]): readonly RejectionItem[] => {
  const [, path, message] = /^([^=]+)=(.+)$/s.exec(text) ?? []
  if (path === undefined || message === undefined) {
    throw new InvalidArgumentError('It must be path=message, such as manifest.name=The name is missing.')
  }
  return [...before, { path, message }]
}

import { type Command, InvalidArgumentError } from 'commander'
import { lackOfManifest } from '../../domain/manifest.ts'
import type { VersionStep } from '../../domain/version.ts'
import { listEveryVersion } from '../../operations/versions/lists.ts'
import { moveVersion } from '../../operations/versions/move-version.ts'
import type { RejectionItem } from '../../operations/versions/version-record.ts'
import { addAppFlag, type AppFlag, requiredApp } from '../flag-values.ts'
import { operatorCommands } from '../operator-command.ts'
import type { OperatorSession } from '../operator-session.ts'
import { listAnswer, recordAnswer } from '../output.ts'

const life = `
draft -> submitted -> approved -> active -> superseded
           | withdraw: back to draft
           | reject: rejected, for good`

export const addReviewCommands = (program: Command): void => {
  const group = program.command('review').description('Versions of apps and their review.').addHelpText('after', life)
  const operator = operatorCommands(group)
  for (const [step, description] of steps) {
    operator(`${step} <app> <version>`, description, async (session, slug: string, version: string) => {
      const moved = await moveVersion(...session, { slug, version, step, rejection: null })
      const lack = step === 'submit' || step === 'approve' ? lackOfManifest(moved.manifest) : null
      return { ...recordAnswer(moved), warnings: lack === null ? [] : [lack] }
    })
  }
  operator('reject <app> <version>', 'Reject a submitted version for good, saying why.', reject)
    .requiredOption('--message <text>', 'why')
    .option('--item <path=message>', 'one thing to fix; may be given several times', readItem, [])
  addAppFlag(operator('list [app]', 'List the versions of an app, newest first.', list))
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

const list = async ([platform]: OperatorSession, app: string | undefined, flags: AppFlag) =>
  listAnswer(await listEveryVersion(platform, requiredApp(app, flags)), {
    Version: 'version',
    Status: 'status',
    Revision: 'revision',
    Scopes: 'scopes',
    'In development': 'current.development',
    'In production': 'current.production',
    Created: 'createdAt',
    ID: 'id',
  })

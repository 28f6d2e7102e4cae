import { Type } from '@sinclair/typebox'
import { knownFields } from '../../domain/manifest.ts'
import type { PathParameter } from './details.ts'
import { artifactNameForm, versionLimits, versionStatuses } from '../../domain/version.ts'
import {
  count,
  environment,
  flag,
  jsonObject,
  nextCursor,
  nullable,
  nullableText,
  nullableTime,
  object,
  oneOf,
  pageQuery,
  recordId,
  someText,
  text,
  time,
  model,
} from './fields.ts'

const semanticVersion = someText('Semantic version (SemVer 2.0), unique in the app.', '1.4.0', { maxLength: 64 })
const manifest = (description: string) => jsonObject(description, { name: 'Newsletter' })
const status = oneOf(versionStatuses, 'Where the version stands in its life.')

export const versionRecord = model('Version', 'A version of the app.', {
  id: recordId('ver', 'The version.'),
  number: count('Counts up per app.', 7),
  version: semanticVersion,
  status,
  revision: count('Counts the uploads of a draft, from 1.', 1),
  notes: nullableText('Release notes.', 'Faster start'),
  manifest: manifest('Manifest of the version: any JSON object.'),
  scopes: Type.Array(Type.String({ examples: ['site:read'] }), {
    description: 'Scopes that the version needs, sorted.',
    examples: [['site:read']],
  }),
  artifact: nullable(
    Type.Object({
      filename: text('Name of the uploaded file.', 'app.tar.gz'),
      sizeBytes: count('Size in bytes.', 20480),
      sha256: text('SHA-256, lower-case hex.', '0'.repeat(64)),
    }),
    'The uploaded artifact, if there is one.',
  ),
  current: object('Where the version is current.', {
    development: flag('Whether it is the development head.', true),
    production: flag('Whether it is what users get.', false),
  }),
  rejection: nullable(
    Type.Object({
      message: text('Why it was rejected.', 'The icon is missing.'),
      items: Type.Array(
        Type.Object({
          path: text('What the item is about.', 'manifest.icon'),
          message: text('What is wrong with it.', 'Missing.'),
        }),
        { description: 'The reasons one by one.' },
      ),
    }),
    'Why the version was rejected, if it was.',
  ),
  createdAt: time('When the version was created.'),
  updatedAt: time('When it last changed.'),
  submittedAt: nullableTime('When it was submitted, if it was.'),
  reviewedAt: nullableTime('When it was reviewed, if it was.'),
  activatedAt: nullableTime('When it last became live, if it did.'),
})

export const versionListQuery = Type.Object({ ...pageQuery, status: Type.Optional(status) })
export const versionList = model('VersionList', 'A page of versions.', {
  data: Type.Array(versionRecord, { description: 'Newest number first.' }),
  nextCursor,
  current: object('The current versions of the app, whatever page this is.', {
    development: nullable(recordId('ver', 'A version.'), 'The development head, if there is one.'),
    production: nullable(recordId('ver', 'A version.'), 'The live version, if there is one.'),
  }),
})

export const draftParameter: PathParameter = {
  name: 'id',
  description: 'ID of the draft.',
  example: 'ver_0198f2a4c1de7b3a9f0c5d6e7a8b9c0d',
}

/** An upload with any of these fields is refused (403 `activation_not_allowed`). */
export const forbiddenUploadFields = ['status', 'activate', 'publish', 'submit'] as const
const forbidden = Type.Optional(
  Type.Unknown({ documented: false }), // must be absent
)

export const versionUpload = model('VersionUpload', 'A draft of a version.', {
  version: semanticVersion,
  notes: Type.Optional(text('Release notes.', 'Faster start', { maxLength: versionLimits.notes })),
  manifest: Type.Optional(
    manifest(
      `Manifest of the version, as in app.json: a JSON object of at most 256 KiB. Known fields are checked: ${knownFields.join(', ')}. Others are kept. Integers beyond 2^53 are sent as strings. Without it, the app.json of a ZIP artifact is used.`,
    ),
  ),
  scopes: Type.Optional(
    Type.Array(Type.String({ minLength: 1, examples: ['site:read'] }), {
      maxItems: versionLimits.scopes,
      description:
        'Scopes that the version needs; each must be registered for the app. Without it, those that the manifest lists.',
      examples: [['site:read']],
    }),
  ),
  artifact: Type.Optional(
    object('The file of the version.', {
      filename: someText('Name of the file, without a path.', 'app.tar.gz', {
        maxLength: versionLimits.filename,
        pattern: artifactNameForm,
      }),
      contentBase64: text('The file in base64, at most 10 MiB decoded.', 'aGVsbG8='),
      sha256: Type.Optional(
        text(
          'SHA-256 of the decoded file, lower-case hex; checked when given.',
          '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',
          { pattern: '^[0-9a-f]{64}$' },
        ),
      ),
    }),
  ),
  status: forbidden,
  activate: forbidden,
  publish: forbidden,
  submit: forbidden,
})

export const rollbackRequest = model('RollbackRequest', 'What to roll back to.', {
  versionId: Type.Optional(someText('The target, by ID.', 'ver_0198f2a4c1de7b3a9f0c5d6e7a8b9c0d')),
  version: Type.Optional(someText('The target, by version.', '1.3.0', { maxLength: 64 })),
  environment: Type.Optional(environment),
  reason: Type.Optional(text('Why, for the ledger.', '1.4.0 crashes', { maxLength: versionLimits.reason })),
  dryRun: Type.Optional(flag('Tells what would happen and changes nothing.', true)),
})
export const rollbackResponse = model('RollbackResult', 'The rollback, and the version that is current now.', {
  rollback: object('What was rolled back.', {
    id: nullable(recordId('rbk', 'The row of the ledger.'), 'The row of the ledger; null for a dry run.'),
    environment,
    fromVersionId: recordId('ver', 'The version that was current.'),
    toVersionId: recordId('ver', 'The version that is current now.'),
    reason: nullableText('The reason that was given.', '1.4.0 crashes'),
    by: object('Who did it.', {
      credentialId: recordId('crd', 'The client secret behind the token.'),
      label: nullableText('The label of that secret, if it has one.', 'Pipeline'),
    }),
    dryRun: flag('Whether it only tells what would happen.', false),
    createdAt: time('When it happened.'),
  }),
  version: versionRecord,
  distributionChanged: flag('Whether users get another version now.', false),
})

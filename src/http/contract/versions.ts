import { Type } from '@sinclair/typebox'
import { environment, nextCursor, nullable, pageQuery, recordId, time } from './fields.ts'

const semanticVersion = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'Semantic version (SemVer 2.0), unique in the app.',
  examples: ['1.4.0'],
})
const manifest = (description: string) =>
  Type.Record(Type.String(), Type.Unknown(), { description, examples: [{ name: 'Newsletter' }] })
const status = Type.Union(
  [
    Type.Literal('draft'),
    Type.Literal('submitted'),
    Type.Literal('approved'),
    Type.Literal('active'),
    Type.Literal('superseded'),
    Type.Literal('rejected'),
  ],
  { description: 'Where the version stands in its life.', examples: ['draft'] },
)

export const versionRecord = Type.Object(
  {
    id: recordId('ver', 'The version.'),
    number: Type.Integer({ description: 'Counts up per app.', examples: [7] }),
    version: semanticVersion,
    status,
    revision: Type.Integer({ description: 'Counts the uploads of a draft, from 1.', examples: [1] }),
    notes: nullable(Type.String({ examples: ['Faster start'] }), 'Release notes.'),
    manifest: manifest('Manifest of the version: any JSON object.'),
    scopes: Type.Array(Type.String({ examples: ['site:read'] }), {
      description: 'Scopes that the version needs, sorted.',
      examples: [['site:read']],
    }),
    artifact: nullable(
      Type.Object({
        filename: Type.String({ description: 'Name of the uploaded file.', examples: ['app.tar.gz'] }),
        sizeBytes: Type.Integer({ description: 'Size in bytes.', examples: [20480] }),
        sha256: Type.String({ description: 'SHA-256, lower-case hex.', examples: ['0'.repeat(64)] }),
      }),
      'The uploaded artifact, if there is one.',
    ),
    current: Type.Object(
      {
        development: Type.Boolean({ description: 'Whether it is the development head.', examples: [true] }),
        production: Type.Boolean({ description: 'Whether it is what users get.', examples: [false] }),
      },
      { description: 'Where the version is current.' },
    ),
    rejection: nullable(
      Type.Object({
        message: Type.String({ description: 'Why it was rejected.', examples: ['The icon is missing.'] }),
        items: Type.Array(
          Type.Object({
            path: Type.String({ description: 'What the item is about.', examples: ['manifest.icon'] }),
            message: Type.String({ description: 'What is wrong with it.', examples: ['Missing.'] }),
          }),
          { description: 'The reasons one by one.' },
        ),
      }),
      'Why the version was rejected, if it was.',
    ),
    createdAt: time('When the version was created.'),
    updatedAt: time('When it last changed.'),
    submittedAt: nullable(time('When it was submitted.'), 'When it was submitted, if it was.'),
    reviewedAt: nullable(time('When it was approved or rejected.'), 'When it was reviewed, if it was.'),
    activatedAt: nullable(time('When it last became live.'), 'When it last became live, if it did.'),
  },
  { description: 'A version of the app.' },
)

export const versionListQuery = Type.Object({ ...pageQuery, status: Type.Optional(status) })
export const versionList = Type.Object(
  {
    data: Type.Array(versionRecord, { description: 'Newest number first.' }),
    nextCursor,
    current: Type.Object(
      {
        development: nullable(recordId('ver', 'A version.'), 'The development head, if there is one.'),
        production: nullable(recordId('ver', 'A version.'), 'The live version, if there is one.'),
      },
      { description: 'The current versions of the app, whatever page this is.' },
    ),
  },
  { description: 'A page of versions.' },
)

/** An upload with any of these fields is refused (403 `activation_not_allowed`). */
export const forbiddenUploadFields = ['status', 'activate', 'publish', 'submit'] as const
const forbidden = Type.Optional(
  Type.Unknown({ description: 'Must be absent: an upload cannot move a version on.', examples: [null] }),
)

export const versionUpload = Type.Object({
  version: semanticVersion,
  notes: Type.Optional(Type.String({ maxLength: 10_000, description: 'Release notes.', examples: ['Faster start'] })),
  manifest: Type.Optional(
    manifest('Manifest of the version: any JSON object, at most 256 KiB. Integers beyond 2^53 are sent as strings.'),
  ),
  scopes: Type.Optional(
    Type.Array(Type.String({ minLength: 1, examples: ['site:read'] }), {
      maxItems: 32,
      description: 'Scopes that the version needs; each must be registered for the app.',
      examples: [['site:read']],
    }),
  ),
  artifact: Type.Optional(
    Type.Object(
      {
        filename: Type.String({
          minLength: 1,
          maxLength: 255,
          pattern: '^[^/\\\\\\u0000-\\u001f\\u007f]+$',
          description: 'Name of the file, without a path.',
          examples: ['app.tar.gz'],
        }),
        contentBase64: Type.String({
          description: 'The file in base64, at most 10 MiB decoded.',
          examples: ['aGVsbG8='],
        }),
        sha256: Type.Optional(
          Type.String({
            pattern: '^[0-9a-f]{64}$',
            description: 'SHA-256 of the decoded file, lower-case hex; checked when given.',
            examples: ['2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824'],
          }),
        ),
      },
      { description: 'The file of the version.' },
    ),
  ),
  status: forbidden,
  activate: forbidden,
  publish: forbidden,
  submit: forbidden,
})

export const rollbackRequest = Type.Object({
  versionId: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'The target, by ID.',
      examples: ['ver_0198f2a4c1de7b3a9f0c5d6e7a8b9c0d'],
    }),
  ),
  version: Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, description: 'The target, by version.', examples: ['1.3.0'] }),
  ),
  environment: Type.Optional(environment),
  reason: Type.Optional(
    Type.String({ maxLength: 1000, description: 'Why, for the ledger.', examples: ['1.4.0 crashes'] }),
  ),
  dryRun: Type.Optional(
    Type.Boolean({ description: 'Tells what would happen and changes nothing.', examples: [true] }),
  ),
})
export const rollbackResponse = Type.Object(
  {
    rollback: Type.Object(
      {
        id: nullable(recordId('rbk', 'The row of the ledger.'), 'The row of the ledger; null for a dry run.'),
        environment,
        fromVersionId: recordId('ver', 'The version that was current.'),
        toVersionId: recordId('ver', 'The version that is current now.'),
        reason: nullable(Type.String({ examples: ['1.4.0 crashes'] }), 'The reason that was given.'),
        dryRun: Type.Boolean({ description: 'Whether it only tells what would happen.', examples: [false] }),
        createdAt: time('When it happened.'),
      },
      { description: 'What was rolled back.' },
    ),
    version: versionRecord,
    distributionChanged: Type.Boolean({ description: 'Whether users get another version now.', examples: [false] }),
  },
  { description: 'The rollback, and the version that is current now.' },
)

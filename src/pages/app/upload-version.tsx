import { notOurForm } from '../version.tsx'
import { type PlatformError, refuse } from '../../domain/errors.ts'
import type { ScopeCatalogue } from '../../domain/scope.ts'
import { isWellFormedText, visibleJson, visibleText } from '../../domain/text.ts'
import {
  artifactLimits,
  artifactName,
  isSemanticVersion,
  manifestLimitBytes,
  versionLimits,
} from '../../domain/version.ts'
import { keepingIfUsed } from '../../operations/artifacts/artifacts.ts'
import { badInput } from '../../operations/decide.ts'
import {
  createOwnVersion,
  type SeenDraft,
  storeOwnFile,
  type VersionUpload,
} from '../../operations/versions/create-version.ts'
import { findVersion, type VersionRecord } from '../../operations/versions/version-record.ts'
import { readCatalogue } from '../../operations/scopes/scopes.ts'
import { uploadScript } from '../assets.ts'
import { routes, type Routes, sentBefore } from '../change.tsx'
import { Details } from '../design/values.tsx'
import { ChoiceList, ChoiceSet, Field, Labelled, Problem } from '../design/field.tsx'
import { Form, SendOrCancel } from '../design/form.tsx'
import { wordsOf } from '../design/scopes.tsx'
import { formOf, optionalText, orLost, outcomeOf, receiveUpload, type Submission, text, texts } from '../form.ts'
import { page, seeOther } from '../page.ts'
import { doing } from '../proof.ts'
import { appFor, AppPage, type AppVisit, inConsole, pageOfApp } from './app-area.tsx'
import { mayInActiveApp } from '../../operations/acting-as.ts'
import { type ParsedManifest, parseManifest, placedInAppJson, type PlacedSentence } from '../../domain/app-json.ts'
import { readPackage } from '../../domain/app-package.ts'
import { openArchive } from '../../domain/archive.ts'
import { atOnce, type Awaitable } from '../../domain/awaitable.ts'
import type { ManifestContent } from '../../domain/manifest.ts'
import { isSecretName } from '../../domain/archive-path.ts'
import type { SentFile } from '../../http/multipart.ts'
import { requireVisit } from '../visit.ts'

/** `draft` is the draft that the form shows, with its revision; a new version has none. */
const versionForm = formOf({ version: text, notes: text, manifest: text, scopes: texts, draft: optionalText })

export const newVersionPattern = '/console/:slug/versions'
export const editVersionPattern = '/console/:slug/versions/:version/edit'

/** The forms that upload a version and replace the content of a draft. They follow the rules of the API and the command line. */
export const uploadVersionRoutes = routes(() => [
  pageOfApp(inConsole, 'versions/new', async (at) => await ask(at, { values: emptyVersion, draft: null, errors: [] })),
  pageOfApp(inConsole, 'versions/:version/edit', async (at, { version }) => {
    const draft = await draftOf(at, version)
    return await ask(at, { values: valuesOf(draft), draft, errors: [] })
  }),
  uploading(newVersionPattern, () => null),
  uploading(editVersionPattern, async (at, { version = '' }) => await draftOf(at, version)),
])

type FindDraft = (at: AppVisit, params: Readonly<Record<string, string>>) => Awaitable<VersionRecord | null>

/** Receives such a form. */
const uploading =
  (path: string, draftFor: FindDraft): Routes =>
  (app, door) =>
    app.post(
      path,
      async ({ request, params }: { request: Request; params: Readonly<Record<string, string>> }) => {
        const { slug = '' } = params
        const at = await orLost(
          door,
          request,
          requireVisit(door, request).then(async (visit) => await appFor(visit, slug)),
        )
        const submission = await receiveUpload(at.visit, at.app.id, versionForm, 'makes a draft')
        return await upload(at, await draftFor(at, params), submission)
      },
      doing('makes a draft'),
    )

/** The draft with this name. @throws version_not_found; version_locked for a version that was submitted */
const draftOf = async ({ visit, app }: AppVisit, name: string): Promise<VersionRecord> => {
  const version = await findVersion(visit.door.platform, app, name)
  if (version.status !== 'draft') throw refuse('version_locked', { details: { status: version.status } })
  return version
}

type SentVersion = Submission<typeof versionForm.schema.properties> & Awaited<ReturnType<typeof receiveUpload>>

const upload = async (from: AppVisit, draft: VersionRecord | null, { visit, fields, files, ticket }: SentVersion) => {
  const at = { ...from, visit }
  const values: VersionValues = { ...fields, version: draft?.version ?? fields.version }
  const again = (errors: readonly PlatformError[]) => ask(at, { values, draft, errors })
  const shown = draft === null ? emptyVersion : valuesOf(draft)
  const read = readVersionForm({ values, shown, file: files.get('file'), kept: draft?.artifact ?? null })
  if (read.kind === 'faulty') return again(read.errors)
  const faults = scopeFaults(at, read.upload.scopes)
  if (faults.length > 0) return again(faults)
  const replaces = draft === null ? null : readDraft(fields.draft ?? '')
  const outcome = await outcomeOf(store(at, read.upload, replaces, files.size > 0, ticket))
  const path = at.path('versions', values.version)
  if (outcome.kind === 'done') return seeOther(`${path}?done=${outcome.value.created ? 'uploaded' : 'replaced'}`)
  if (outcome.error.code === 'idempotency_key_reused') {
    return sentBefore(visit, { href: at.path('versions'), name: 'See the versions' })
  }
  return again([besideField(outcome.error)])
}

/** The file is stored first, in pieces, if this upload would be accepted. The transaction that creates the draft decides. */
const store = async (
  { visit, app }: AppVisit,
  sent: VersionUpload,
  replaces: SeenDraft | null,
  hasFile: boolean,
  ticket: SentVersion['ticket'],
) => {
  const { platform } = visit.door
  return await keepingIfUsed(platform, async (keep) => {
    if (hasFile) await storeOwnFile(platform, app.id, sent, ticket, keep)
    const input = { slug: app.slug, upload: sent, replaces }
    return await visit.as(mayInActiveApp(app.slug, 'release'), ticket).do(createOwnVersion, input)
  })
}

/** The operation would refuse them too, without their names. */
const scopeFaults = ({ app }: AppVisit, scopes: readonly string[]): readonly PlatformError[] =>
  scopes
    .filter((scope) => !app.scopes.some((registered) => registered === scope))
    .map((scope) =>
      badInput('scopes', `${scope} is not registered for this app. Register it on the page Scopes first.`),
    )

/** The API names the parts of its body; the form has one field for the file. */
const besideField = (error: PlatformError): PlatformError => {
  const { param = '', ...facts } = error.facts
  const field = param.startsWith('artifact') ? 'file' : param.startsWith('manifest') ? 'manifest' : param
  return refuse(error.code, { ...facts, param: field, message: error.message })
}

const draftField = ({ id, revision }: VersionRecord): string => `${id} ${revision}`

/** @throws invalid_request for a field that no page of ours has */
const readDraft = (field: string): SeenDraft => {
  const [, id, revision] = /^(ver_[0-9a-f]{32}) (\d{1,15})$/.exec(field) ?? []
  if (id === undefined) throw badInput('draft', notOurForm)
  return { id, revision: Number(revision) }
}

type Asked = {
  readonly values: VersionValues
  /** The draft whose content is replaced; null for a new version. */
  readonly draft: VersionRecord | null
  readonly errors: readonly PlatformError[]
}

const ask = async (at: AppVisit, { values, draft, errors }: Asked): Promise<Response> => {
  const catalogue = await readCatalogue(at.visit.door.platform)
  const list = at.path('versions')
  const action = draft === null ? list : at.path('versions', draft.version, 'edit')
  const back = draft === null ? list : at.path('versions', draft.version)
  return page(
    <AppPage
      at={at}
      tab="versions"
      title={draft === null ? 'Upload a version' : `Edit ${draft.version}`}
      about={draft === null ? aboutNew : aboutEdit}
    >
      <Problem error={errors} />
      <Form action={action} visit={at.visit} class="measure" upload>
        {draft === null ? (
          <Field
            label="Version"
            name="version"
            hint="A semantic version that this app does not have yet."
            error={errors}
            input={{ value: values.version, placeholder: '1.4.0', required: true, maxLength: 64, spellcheck: false }}
          />
        ) : (
          <>
            <input type="hidden" name="draft" value={draftField(draft)} />
            <input type="hidden" name="version" value={draft.version} />
          </>
        )}
        <Labelled
          label="File"
          name="file"
          hint={`${fileHint}${keptHint(draft)}`}
          error={errors}
          // The script refuses a larger file before it is sent.
          control={(shared) => <input type="file" accept=".zip" data-largest={artifactLimits.bytes} {...shared} />}
        />
        {errors.length === 0 ? null : (
          <p class="muted" data-choose-again>
            Choose the file again, because browsers do not keep it.
          </p>
        )}
        <Field
          label="Notes"
          name="notes"
          hint="What is new, for you and for the operators who review it."
          error={errors}
          rows={4}
          input={{ value: values.notes, maxLength: versionLimits.notes }}
        />
        <Details
          summary="Write the manifest here instead"
          open={draft !== null || errors.some(({ facts }) => facts.param === 'manifest' || facts.param === 'scopes')}
        >
          <Field
            label="Manifest"
            name="manifest"
            hint="The text of app.json. Leave it unchanged to use the one in the file."
            error={errors}
            rows={12}
            input={{ value: values.manifest, spellcheck: false }}
          />
          <Scopes catalogue={catalogue} at={at} chosen={values.scopes} errors={errors} />
        </Details>
        <SendOrCancel button={draft === null ? 'Upload' : 'Replace the content'} back={back} />
      </Form>
      <script src={uploadScript.path} defer />
    </AppPage>,
    { refusal: errors[0] ?? null, uploads: true },
  )
}

const aboutNew =
  'A new version is a draft and becomes the development head. Users get it after a review, when it is made live.'
const aboutEdit = 'The content of the draft is replaced, and its revision goes up by one.'
const fileHint = 'A ZIP archive of your app, with its manifest app.json at the top. At most 10 MiB.'
const keptHint = (draft: VersionRecord | null): string =>
  draft === null || draft.artifact === null ? '' : ` Without a new file, ${visibleText(draft.artifact.filename)} stays.`

type ScopesProps = {
  readonly catalogue: ScopeCatalogue
  readonly at: AppVisit
  readonly chosen: readonly string[]
  readonly errors: readonly PlatformError[]
}

const Scopes = ({ catalogue, at: { app }, chosen, errors }: ScopesProps) => (
  <ChoiceSet legend="Scopes, if the manifest does not list them" name="scopes" error={errors}>
    {app.scopes.length === 0 ? <p class="muted">This app has registered no scopes.</p> : null}
    <ChoiceList
      name="scopes"
      options={app.scopes.map((scope) => [
        scope,
        <code>{scope}</code>,
        <>
          <bdi>{wordsOf(catalogue, scope)}</bdi>.
        </>,
      ])}
      chosen={chosen}
    />
  </ChoiceSet>
)

/** What a person typed into the form of a version. */
type VersionValues = {
  readonly version: string
  readonly notes: string
  readonly manifest: string
  readonly scopes: readonly string[]
}

const emptyVersion: VersionValues = { version: '', notes: '', manifest: '', scopes: [] }

/** What the form shows of a draft. Scopes that its manifest lists are not chosen beside it. */
export const valuesOf = ({ version, notes, manifest, scopes }: VersionRecord): VersionValues => ({
  version,
  notes: notes ?? '',
  manifest: editable(manifest),
  scopes: Object.hasOwn(manifest, 'scopes') ? [] : scopes,
})

/** With indentation, unless that would make it much longer. */
const editable = (manifest: VersionRecord['manifest']): string => {
  const indented = visibleJson(manifest)
  return indented.length <= manifestLimitBytes ? indented : JSON.stringify(manifest)
}

type SentForm = {
  readonly values: VersionValues
  readonly file: SentFile | undefined
  /** What the form showed: nothing, or the draft. */
  readonly shown: VersionValues
  /** The file of the draft, which stays unless another one is sent. */
  readonly kept: VersionRecord['artifact']
}

type ReadForm =
  | { readonly kind: 'upload'; readonly upload: VersionUpload & { readonly scopes: readonly string[] } }
  | { readonly kind: 'faulty'; readonly errors: readonly PlatformError[] }

/** The upload that a form asks for, by the rules of the command line; or everything that is wrong with it. */
const readVersionForm = ({ values, file, shown, kept }: SentForm): ReadForm => {
  const { version, notes } = values
  const errors = [
    ...fault(isSemanticVersion(version), 'version', 'Write a semantic version, such as 1.4.0 or 2.0.0-beta.1.'),
    ...fileFaults(file),
    ...fault(notes.length <= versionLimits.notes, 'notes', `Write at most ${versionLimits.notes} characters.`),
    ...fault(isWellFormedText(notes), 'notes', 'The notes contain broken characters.'),
  ]
  const manifest = errors.some(({ facts }) => facts.param === 'file') ? noManifest : manifestOf(values, shown, file)
  const scopes = manifest.kind === 'manifest' ? scopesOf(values, shown, manifest) : []
  if (manifest.kind === 'faulty') errors.push(...manifest.errors)
  if (scopes === 'differ') errors.push(badInput('scopes', 'app.json lists other scopes. Change them there.'))
  if (errors.length > 0 || manifest.kind === 'faulty' || scopes === 'differ') return { kind: 'faulty', errors }
  const artifact = artifactOf(file) ?? keptArtifact(kept)
  const { content } = manifest
  return {
    kind: 'upload',
    upload: { version, notes: notes === '' ? null : notes, manifest: content, scopes, artifact },
  }
}

const fault = (isGood: boolean, param: string, sentence: string): readonly PlatformError[] =>
  isGood ? [] : [badInput(param, sentence)]

const fileFaults = (file: SentFile | undefined): readonly PlatformError[] => {
  if (file === undefined) return []
  const { filename, content } = file
  if (content === null) return [badInput('file', 'The file is larger than 10 MiB.')]
  if (isSecretName(filename)) return [badInput('file', 'A file with this name usually holds secrets. Choose your app.')]
  const named = artifactName(filename)
  return named.fault === null ? [] : [badInput('file', named.fault)]
}

const artifactOf = (file: SentFile | undefined): VersionUpload['artifact'] =>
  file === undefined || file.content === null ? null : { filename: file.filename, content: file.content, sha256: null }

const keptArtifact = (kept: VersionRecord['artifact']): VersionUpload['artifact'] =>
  kept === null
    ? null
    : {
        filename: kept.filename,
        content: { bytes: null, sizeBytes: kept.sizeBytes, sha256: Buffer.from(kept.sha256, 'hex') },
        sha256: null,
      }

type FoundManifest =
  | {
      readonly kind: 'manifest'
      readonly content: ManifestContent
      readonly scopes: readonly string[]
    }
  | { readonly kind: 'faulty'; readonly errors: readonly PlatformError[] }

const noManifest: FoundManifest = { kind: 'faulty', errors: [] }
const faulty = (param: string, sentence: string): FoundManifest => ({
  kind: 'faulty',
  errors: [badInput(param, sentence)],
})

/**
 * The manifest is `app.json` in the file. One that was typed counts if the file has none. If the file has another one, the
 * person must say which they mean.
 */
const manifestOf = ({ manifest }: VersionValues, shown: VersionValues, file: SentFile | undefined): FoundManifest => {
  const isTyped = manifest !== '' && manifest !== shown.manifest
  const inFile = file === undefined ? null : manifestIn(file, manifest !== '')
  if (inFile === null) return manifest === '' ? faulty('file', missing) : typedManifest(manifest)
  if (inFile.kind === 'faulty' || !isTyped) return inFile
  const typed = typedManifest(manifest)
  if (typed.kind === 'faulty' || isSame(typed.content, inFile.content)) return typed
  return faulty('manifest', 'The archive has another app.json. Clear this field to use that one.')
}

const missing = 'Choose a ZIP archive with app.json in it, or write the manifest below.'

const isSame = (one: unknown, other: unknown): boolean => Bun.deepEquals(one, other, true)

/** The manifest in an archive; null if the file has none and need not have one. */
const manifestIn = ({ content }: SentFile, isOptional: boolean): FoundManifest | null => {
  const read = readPackage(atOnce(openArchive(content?.bytes ?? new Uint8Array())))
  switch (read.kind) {
    case 'refused':
      return faulty('file', read.sentence)
    case 'no archive':
      return isOptional ? null : faulty('file', 'This is not a ZIP archive. Choose one, or write the manifest below.')
    case 'no manifest':
      return isOptional ? null : faulty('file', 'The archive has no app.json. Add it, or write the manifest below.')
    case 'manifest':
    case 'faulty':
      return checkedManifest('file', read)
    default:
      return read satisfies never
  }
}

const typedManifest = (text: string): FoundManifest => checkedManifest('manifest', parseManifest(text))

/** The most faults that are shown at once. */
const mostFaults = 20

const checkedManifest = (param: 'file' | 'manifest', read: ParsedManifest): FoundManifest => {
  if (read.kind === 'manifest') {
    const isSmall = Buffer.byteLength(JSON.stringify(read.content)) <= manifestLimitBytes
    return isSmall ? read : faulty(param, 'app.json is larger than 256 KiB.')
  }
  const at = (placed: PlacedSentence) =>
    badInput(
      param,
      param === 'file' ? placedInAppJson(placed) : `Line ${placed.line}, column ${placed.column}: ${placed.sentence}`,
    )
  return { kind: 'faulty', errors: read.faults.slice(0, mostFaults).map(at) }
}

/** The scopes that the manifest lists, or those that were chosen beside it. */
const scopesOf = (
  { scopes: chosen }: VersionValues,
  shown: VersionValues,
  { content, scopes }: Extract<FoundManifest, { kind: 'manifest' }>,
): readonly string[] | 'differ' => {
  if (!Object.hasOwn(content, 'scopes')) return chosen
  const mayDiffer = chosen.length === 0 || isSame(chosen.toSorted(), shown.scopes.toSorted())
  return mayDiffer || isSame(chosen.toSorted(), scopes.toSorted()) ? scopes : 'differ'
}

import { createHash } from 'node:crypto'
import type { Queries, Version } from '../../../db/database.ts'
import { placedInAppJson } from '../../domain/app-json.ts'
import { readIcon, readPackage } from '../../domain/app-package.ts'
import { type OpenedArchive, openArchive } from '../../domain/archive.ts'
import { inTurns } from '../../domain/awaitable.ts'
import { appFactsIn, type ManifestContent, manifestFault, scopesInManifest } from '../../domain/manifest.ts'
import { PlatformError, refuse, tooLarge } from '../../domain/errors.ts'
import { recordId, type RowKey } from '../../domain/identifier.ts'
import type { Quotas } from '../../domain/limits.ts'
import { formatScope, type ParsedScope, parseStoredScope, readScopeNames } from '../../domain/scope.ts'
import { artifactName, isSemanticVersion, manifestLimitBytes, type VersionStatus } from '../../domain/version.ts'
import { findApp } from '../apps/app-record.ts'
import {
  keepingIfUsed,
  readArtifact,
  type ReceivedArtifact,
  refusalIfOverQuota,
  type StoreArtifact,
} from '../artifacts/artifacts.ts'
import { badInput, decide, type OpenChange, type Operation, prepareChange } from '../decide.ts'
import { type Once, once, type RepeatableRequest } from '../once.ts'
import type { Platform, Trace } from '../platform.ts'
import { refusalIfEnded } from '../acting-as.ts'
import { actorOf, type AppCaller } from '../authenticate.ts'
import { readVersionRecord, type VersionRecord } from './version-record.ts'
import { refusalBeyond } from '../scopes/scopes.ts'

export type VersionUpload = {
  readonly version: string
  readonly notes: string | null
  /** Null: the `app.json` of the artifact, if it has one. */
  readonly manifest: ManifestContent | null
  /** Null: those that the manifest lists. */
  readonly scopes: readonly string[] | null
  readonly artifact: {
    readonly filename: string
    readonly content: ReceivedArtifact
    /** Lower-case hex; null when the uploader sent none. */
    readonly sha256: string | null
  } | null
  /** The name of a field that asks to submit, publish or activate the version, which is refused. */
  readonly movedOnBy?: string | undefined
}
type CreatedVersion = { readonly created: boolean; readonly version: VersionRecord }

/**
 * Creates a draft, or replaces the content of the draft with the same name. A new version becomes the development head;
 * replacing a draft does not move the head. An upload never submits or activates (spec section 4).
 * @throws invalid_request, invalid_scope, payload_too_large, checksum_mismatch, development_credentials_required,
 *   activation_not_allowed, scope_not_available, scope_not_allowed, version_locked, quota_exceeded, and what `once`
 *   refuses with
 */
export const createVersion = async (
  platform: Platform,
  trace: Trace,
  caller: AppCaller,
  upload: VersionUpload,
  request: RepeatableRequest | null,
): Promise<Once<CreatedVersion>> => {
  const checked = await checkUpload(upload)
  if (caller.environment !== 'development') throw refuse('development_credentials_required')
  const { forbidden } = checked
  const now = platform.clock.now()
  const id = recordId('ver_', platform.random.uuid(now))
  const open = prepareChange(platform, trace, actorOf(caller), now)

  const work = async (q: Queries): Promise<CreatedVersion | PlatformError> => {
    const change = open(q)
    const ended = await refusalIfEnded(platform, change, caller)
    if (ended !== null) return ended
    if (forbidden !== null) return forbidden
    return await writeDraft(change, platform.quotas, caller.app.id, id, checked)
  }
  return await keepingIfUsed(platform, async (store) => {
    const prepare = async () => await storeFile(platform, caller.app.id, upload, checked, store)
    return await once(platform, { request, now, prepare, work })
  })
}

/** The upload of an owner, on a page. */
type OwnUpload = {
  readonly slug: string
  readonly upload: VersionUpload
  /** The draft whose content is replaced, as it was shown; null for a new version. */
  readonly replaces: SeenDraft | null
}
export type SeenDraft = Pick<Version, 'id' | 'revision'>

/**
 * Stores the file of an upload that would be accepted now, before `createOwnVersion`, whose one transaction spends the ticket of
 * the form. Stores nothing if the ticket is spent already.
 * @throws as `createVersion` does for the form of the upload
 */
export const storeOwnFile = async (
  platform: Platform,
  appId: string,
  upload: VersionUpload,
  ticket: RowKey,
  store: StoreArtifact,
): Promise<void> => {
  if (await platform.database.queries.formTickets.isSpent(ticket)) return
  await storeFile(platform, appId, upload, await checkUpload(upload), store)
}

/**
 * Creates a draft of the owner's app, by the rules of `createVersion`, or replaces the content of the draft that was shown.
 * @throws as `createVersion` does; version_not_eligible when the draft has changed since it was shown
 */
export const createOwnVersion: Operation<OwnUpload, CreatedVersion> = async (platform, trace, actor, input) => {
  const { slug, upload, replaces } = input
  const { artifact } = upload
  // Of a file that stays, an icon is read again. Nothing else of it is.
  const isKept = artifact !== null && artifact.content.bytes === null && upload.manifest?.['icon'] !== undefined
  const kept = isKept ? await readArtifact(platform, artifact.content.sha256) : undefined
  const checked = await checkUpload(upload, kept)
  if (checked.forbidden !== null) throw checked.forbidden
  const now = platform.clock.now()
  const id = recordId('ver_', platform.random.uuid(now))
  return await decide(platform, trace, { actor, now }, async (change) => {
    const app = await findApp(change.q, slug)
    const existing = await change.q.versions.byName(app.id, upload.version)
    const fault = replaces === null ? takenFault(existing) : changedFault(existing, replaces)
    return fault ?? (await writeDraft(change, platform.quotas, app.id, id, checked))
  })
}

/** A person who types the name of a draft again may not know that it would be replaced. */
const takenFault = (existing: Version | null): PlatformError | null => {
  if (existing === null) return null
  const message =
    existing.status === 'draft'
      ? 'There is already a draft of this version. Edit that draft.'
      : 'This version already exists.'
  return badInput('version', `${message} For a new version choose another number.`)
}

const changedFault = (existing: Version | null, seen: SeenDraft): PlatformError | null => {
  if (existing?.id !== seen.id) return refuse('version_not_found')
  if (existing.status !== 'draft') return locked(existing)
  return existing.revision === seen.revision ? null : refuse('version_not_eligible', { message: replacedSince })
}

const replacedSince = 'This draft has been replaced since it was shown. Nothing was changed. Load the page again.'

/** Stores no file for an upload that will be refused. The transaction decides again. */
const storeFile = async (
  platform: Platform,
  appId: string,
  { artifact }: VersionUpload,
  checked: CheckedUpload,
  store: StoreArtifact,
) => {
  if (checked.forbidden !== null || artifact === null) return
  const place = await placeOf(platform.database.queries, platform.quotas, appId, checked)
  if (!(place instanceof PlatformError)) await store(artifact.content)
}

const versionForm = 'The version must be a semantic version, such as 1.4.0 or 2.0.0-beta.1, with at most 64 characters.'

/** A well-formed upload in the form in which it is stored. */
type CheckedUpload = Awaited<ReturnType<typeof checkUpload>>

/** The form of an upload, in the order of the contract. `stored` is the file of a draft that stays. @throws the first fault */
const checkUpload = async (upload: VersionUpload, stored?: Uint8Array) => {
  if (!isSemanticVersion(upload.version)) throw badInput('version', versionForm)
  const file = stored ?? upload.artifact?.content.bytes ?? null
  const filename = upload.artifact?.filename ?? null
  const isNew = (upload.artifact?.content.bytes ?? null) !== null // a name that has been stored stays
  const named = filename !== null && isNew ? artifactName(filename) : { name: filename, fault: null }
  if (named.fault !== null) throw badInput('artifact.filename', named.fault)
  const archive = file === null ? null : await inTurns(openArchive(file))
  const artifactSha256 = upload.artifact === null ? null : checkedSum(upload.artifact, archive)
  const manifest = manifestOf(upload, archive)
  const asked = scopesOf(upload.scopes ?? scopesInManifest(manifest))
  if (asked.kind === 'refused' && asked.code === 'invalid_scope')
    throw refuse('invalid_scope', { param: 'scopes', message: asked.message })
  const scopes = asked.kind === 'scopes' ? asked.scopes : []
  const content = {
    ...iconOf(archive, manifest),
    description: appFactsIn(manifest).description?.normalize('NFC') ?? null, // as names, so that a search finds it
    notes: upload.notes,
    manifest: manifestText(manifest),
    scopes: formatScope(scopes),
    artifactSha256,
    artifactFilename: named.name,
    artifactSizeBytes: upload.artifact?.content.sizeBytes ?? null,
  }
  // What no upload may do is refused later, once the caller is known to be live.
  return { version: upload.version, scopes, content, forbidden: permissionFault(upload, asked) }
}

/** The draft that the upload replaces, null for a new version, or the reason why this app may not upload it. */
const placeOf = async (
  q: Queries,
  quotas: Quotas,
  appId: string,
  { version, scopes, content }: CheckedUpload,
): Promise<Version | PlatformError | null> => {
  const app = await q.apps.byId(appId)
  if (app === null) return refuse('invalid_token')
  const beyond = await refusalBeyond(q, appId, scopes, parseStoredScope(app.scopes), 'scopes')
  if (beyond !== null) return beyond
  const existing = await q.versions.byName(appId, version)
  if (existing !== null && existing.status !== 'draft') return locked(existing)
  const full = existing === null ? await refusalIfFull(q, quotas, appId) : null
  return full ?? (await refusalIfOverQuota(q, quotas, appId, existing, content)) ?? existing
}

/** The refusal of a new version if the app has as many as it may have (QUOTA_VERSIONS). */
const refusalIfFull = async (q: Queries, quotas: Quotas, appId: string): Promise<PlatformError | null> => {
  if ((await q.versions.countOfApp(appId)) < quotas.versions) return null
  const message = `An app can have at most ${quotas.versions} versions. Replace or remove a draft, or ask the operator to raise QUOTA_VERSIONS.`
  return refuse('quota_exceeded', { param: 'version', details: { maximum: quotas.versions }, message })
}

/**
 * Creates the draft with this ID, or replaces the content of the version with this name if it is still a draft; with an
 * audit row. What happens to a draft happens in development.
 */
const writeDraft = async (
  { q, now, record }: OpenChange,
  quotas: Quotas,
  appId: string,
  id: string,
  upload: CheckedUpload,
): Promise<CreatedVersion | PlatformError> => {
  const { version, content } = upload
  const existing = await placeOf(q, quotas, appId, upload)
  if (existing instanceof PlatformError) return existing
  if (content.artifactSha256 !== null && (await q.artifacts.find(content.artifactSha256)) === null) {
    return refuse('unavailable', { retryAfterSeconds: 1 }) // removed since, or not stored: the client retries from the start
  }
  if (existing === null) {
    const number = await q.versions.takeNumber(appId)
    await q.versions.insert({ ...content, ...untouched, id, appId, number, version, createdAt: now, updatedAt: now })
    await q.apps.change(appId, { developmentVersionId: id }, now)
  } else {
    if (!(await q.versions.replaceDraft(existing.id, existing.revision + 1, content, now))) return locked(existing)
    const { artifactSha256: replaced } = existing
    if (replaced !== null) await q.artifacts.removeUnused(replaced)
  }
  const written = await readVersionRecord(q, appId, existing?.id ?? id)
  const action = existing === null ? 'version.created' : 'version.replaced'
  const detail = { revision: written.revision }
  await record({ action, appId, environment: 'development', target: written.id, detail })
  return { created: existing === null, version: written }
}

const locked = ({ status }: { readonly status: VersionStatus }): PlatformError =>
  refuse('version_locked', { details: { status } })

/** The columns of a new draft. */
const untouched = {
  status: 'draft',
  revision: 1,
  rejection: null,
  submittedAt: null,
  reviewedAt: null,
  reviewedBy: null,
  activatedAt: null,
} as const

/** Each item is one scope name. An item with a space in it could pass as two scopes and is refused. */
const scopesOf = (scopes: readonly string[]): ParsedScope => {
  if (scopes.length === 0) return { kind: 'scopes', scopes: [] }
  return scopes.some((name) => name.includes(' '))
    ? { kind: 'refused', code: 'invalid_scope', message: 'A scope cannot contain a space.' }
    : readScopeNames(scopes)
}

/** The refusal of what no upload may ask for, whatever scopes the app has registered. */
const permissionFault = ({ movedOnBy }: VersionUpload, asked: ParsedScope): PlatformError | null => {
  if (movedOnBy !== undefined) return refuse('activation_not_allowed', { param: movedOnBy })
  return asked.kind === 'refused' ? refuse(asked.code, { param: 'scopes', message: asked.message }) : null
}

/** The manifest that was sent, or else the `app.json` of the artifact; empty if there is neither. @throws invalid_request */
const manifestOf = ({ manifest: sent }: VersionUpload, archive: OpenedArchive | null): ManifestContent => {
  if (sent !== null) {
    const fault = manifestFault(sent)
    if (fault !== null) throw badInput(`manifest.${fault.field}`, `Manifest: ${fault.sentence}`)
    return sent
  }
  const read = archive === null ? null : readPackage(archive)
  switch (read?.kind) {
    case 'manifest':
      return read.content
    case 'faulty': {
      const [first] = read.faults
      throw badInput(first.field === null ? 'manifest' : `manifest.${first.field}`, placedInAppJson(first))
    }
    case 'refused':
      throw badInput('artifact.contentBase64', read.sentence)
    default:
      return {}
  }
}

/** Where the icon is that the manifest names; it is read from there for each download. @throws invalid_request */
const iconOf = (archive: OpenedArchive | null, manifest: ManifestContent) => {
  const read = readIcon(archive, manifest)
  if (read.kind === 'refused') throw badInput('manifest.icon', read.sentence)
  return read.kind === 'none'
    ? { iconSha256: null, iconPlace: null }
    : { iconSha256: createHash('sha256').update(read.bytes).digest(), iconPlace: JSON.stringify(read.place) }
}

/** The manifest in the form in which it is stored. @throws payload_too_large */
const manifestText = (manifest: ManifestContent): string => {
  const text = JSON.stringify(manifest)
  if (Buffer.byteLength(text) <= manifestLimitBytes) return text
  throw tooLarge(manifestLimitBytes, 'manifest')
}

/** The SHA-256 of an artifact. @throws checksum_mismatch when the uploader sent another one; invalid_request for a bad archive */
const checkedSum = (
  { content, sha256 }: NonNullable<VersionUpload['artifact']>,
  archive: OpenedArchive | null,
): Uint8Array => {
  if (sha256 !== null && sha256 !== Buffer.from(content.sha256).toString('hex')) {
    throw refuse('checksum_mismatch', { param: 'artifact.sha256' })
  }
  if (archive?.kind === 'refused') throw badInput('artifact.contentBase64', archive.sentence)
  return content.sha256
}

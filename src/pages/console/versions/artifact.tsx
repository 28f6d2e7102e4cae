import type { VersionRecord } from '../../../operations/versions/version-record.ts'
import { Copyable } from '../components/copyable.tsx'

/** The uploaded file, and how to tell that a copy is the same. */
export const Artifact = ({ artifact }: Pick<VersionRecord, 'artifact'>) =>
  artifact === null ? (
    <p class="muted">No file was uploaded with this version.</p>
  ) : (
    <dl>
      <dt>File</dt>
      <dd>
        <bdi>{artifact.filename}</bdi>
      </dd>
      <dt>Size</dt>
      <dd>{`${artifact.sizeBytes.toLocaleString('en')} bytes`}</dd>
      <dt>SHA-256</dt>
      <dd>
        <Copyable id="sha256" value={artifact.sha256} what="the SHA-256" />
      </dd>
    </dl>
  )

import type { VersionRecord } from '../../../operations/versions/version-record.ts'
import { Copyable } from '../../components/values.tsx'

type ArtifactProps = Pick<VersionRecord, 'artifact'> & { readonly href: string }

/** The uploaded file, where it is, and how to tell that a copy is the same. */
export const Artifact = ({ artifact, href }: ArtifactProps) =>
  artifact === null ? (
    <p class="muted">No file was uploaded with this version.</p>
  ) : (
    <dl>
      <dt>File</dt>
      <dd>
        <a href={href}>
          <bdi>{artifact.filename}</bdi>
        </a>
      </dd>
      <dt>Size</dt>
      <dd>{`${artifact.sizeBytes.toLocaleString('en')} bytes`}</dd>
      <dt>SHA-256</dt>
      <dd>
        <Copyable id="sha256" value={artifact.sha256} what="the SHA-256" />
      </dd>
    </dl>
  )

import type { AppOverview } from '../../operations/apps/lists.ts'
import { VersionStatusBadge } from '../design/badge.tsx'
import { Row, RowList } from '../design/row-list.tsx'
import { consoleAppPath } from './own-app.tsx'

type OverviewStatusProps = { readonly slug: string; readonly overview: AppOverview }

const versionRows = [
  {
    which: 'live',
    since: ['Activated', 'activatedAt'],
    title: 'Live now',
    otherwise: 'Nothing is live yet. A version goes live after its review.',
  },
  {
    which: 'developmentHead',
    since: ['Uploaded', 'createdAt'],
    title: 'Development head',
    otherwise: 'No version has been uploaded yet.',
  },
  {
    which: 'submitted',
    since: ['Submitted', 'submittedAt'],
    title: 'Waiting for review',
    otherwise: 'No version is waiting. Submit a draft when it is ready.',
  },
] as const

/** The live version, the development head and the version in review. */
export const StatusRows = ({ slug, overview }: OverviewStatusProps) => (
  <RowList
    label="Versions"
    rows={versionRows}
    row={({ which, since, title, otherwise }) => {
      const version = overview[which]
      return version === null ? (
        <Row key={which} title={title} facts={[otherwise]} />
      ) : (
        <Row
          key={which}
          href={consoleAppPath(slug, 'versions', version.version)}
          title={`${title}: ${version.version}`}
          badge={which === 'developmentHead' ? <VersionStatusBadge status={version.status} /> : undefined}
          time={[since[0], version[since[1]]]}
        />
      )
    }}
  />
)

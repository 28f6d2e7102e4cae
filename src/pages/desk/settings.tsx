import type { SettingFact } from '../../domain/deciding-settings.ts'
import { Badge } from '../design/badge.tsx'
import { type Columns, Table } from '../design/table.tsx'
import { page } from '../page.ts'
import { DeskPage, deskPaths } from './desk-page.tsx'
import { pageFor } from '../change.tsx'

/** The settings of this server, with where each comes from. */
export const settingRoutes = pageFor('operator', deskPaths.settings, async (visit) => {
  return page(
    <DeskPage title="Settings" visit={visit} tab={deskPaths.settings}>
      <p>
        The settings with which this server runs. Secrets are only said to be set. To change one, set it where it comes
        from and restart the server. What comes from a file is read again by <code>systemctl reload app-platform</code>.
        The guide <a href="/docs/guides/settings">Settings</a> says what each does.
      </p>
      <Table label="Settings" rows={visit.door.settings} columns={columns} rowHeader="Setting" />
    </DeskPage>,
  )
})

const columns: Columns<SettingFact> = {
  Setting: ({ name }) => <code>{name}</code>,
  Value: ({ value, usual }) => <Value of={value ?? usual} />,
  'Comes from': ({ origin, from }) =>
    origin === 'default' ? (
      'Default'
    ) : (
      <>
        <Badge>{originWords[origin]}</Badge> <code>{from}</code>
      </>
    ),
  Default: ({ usual }) => <Value of={usual} />,
}

const originWords = { flag: 'Flag', environment: 'Environment', file: 'File' } as const

const Value = ({ of }: { readonly of: string | null }) => (of === null ? <>None</> : <code>{of}</code>)

import type { Queries } from '../../../db/database.ts'
import { type InstallRecord, installRecord } from './install-record.ts'

/** An install with the slug and name of its app and the address of its user. */
export type DescribedInstall = InstallRecord & { readonly app: string; readonly appName: string; readonly user: string }

type Row = Awaited<ReturnType<Queries['installs']['pending']>>[number]

/** What a row with its app, user and place says. */
export const describedInstall = ({ install, kind, resourceSlug, app, appName, user }: Row): DescribedInstall => ({
  ...installRecord(install, kind, resourceSlug),
  app,
  appName,
  user,
})

import { Elysia } from 'elysia'
import type { Door } from '../../http/door.ts'
import { mayInApp } from '../../operations/acting-as.ts'
import { exportAppEvents, exportAppInstalls } from '../../operations/exports.ts'
import type { AppInstall } from '../../operations/installs/lists.ts'
import { csvDownload, eventColumns, eventRows } from '../csv-download.ts'
import { formOf, optionalText, receiveFromUser } from '../form.ts'
import { timeOrderOf } from '../query.ts'
import { readAppInstallFilter } from './installs.tsx'
import { ownAppOf } from './own-app.tsx'
import { readTrailSearch } from './trail.tsx'

const eventForm = formOf({
  action: optionalText,
  outcome: optionalText,
  since: optionalText,
  until: optionalText,
  sort: optionalText,
})
const installForm = formOf({ status: optionalText, kind: optionalText, sort: optionalText })

/** The lists of an app as CSV, with their filters and in their order. An app that is suspended can be exported too. */
export const appExportRoutes = (door: Door) =>
  new Elysia()
    .post('/console/:slug/trail/export', async ({ request, params: { slug } }) => {
      const { visit, fields } = await receiveFromUser(door, request, eventForm, 'none')
      const { app } = await ownAppOf(visit, slug)
      const { action = '', outcome = '', since = '', until = '', sort = '' } = fields
      const search = readTrailSearch({ action, outcome, since, until, sort })
      const may = mayInApp(slug, 'view')
      const exported = await visit.as(may).do(exportAppEvents, { app, search })
      return csvDownload(visit, `${slug}-audit`, eventColumns, eventRows(exported), may)
    })
    .post('/console/:slug/installs/export', async ({ request, params: { slug } }) => {
      const { visit, fields } = await receiveFromUser(door, request, installForm, 'none')
      const { app } = await ownAppOf(visit, slug)
      const filter = readAppInstallFilter(fields)
      const order = timeOrderOf(fields.sort, 'newest')
      const may = mayInApp(slug, 'view')
      const exported = await visit.as(may).do(exportAppInstalls, { app, filter, order })
      return csvDownload(visit, `${slug}-installs`, installColumns, exported, may)
    })

const installColumns = {
  id: ({ id }: AppInstall) => id,
  kind: ({ kind }: AppInstall) => kind,
  environment: ({ environment }: AppInstall) => environment,
  approval: ({ approval }: AppInstall) => approval,
  state: ({ state }: AppInstall) => state,
  requested: ({ createdAt }: AppInstall) => new Date(createdAt).toISOString(),
  changed: ({ updatedAt }: AppInstall) => new Date(updatedAt).toISOString(),
} as const

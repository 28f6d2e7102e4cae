import { Elysia } from 'elysia'
import { formatScope } from '../../domain/scope.ts'
import type { Door } from '../../http/door.ts'
import { isOperator } from '../../operations/acting-as.ts'
import { exportEvents, exportInstalls } from '../../operations/exports.ts'
import type { DescribedInstall } from '../../operations/installs/lists.ts'
import { csvDownload, eventColumns, eventRows } from '../csv-download.ts'
import { formOf, optionalText, receiveFromOperator } from '../form.ts'
import { timeOrderOf } from '../query.ts'
import { readSearch } from './audit-filter.tsx'
import { deskPaths } from './desk-page.tsx'
import { readInstallSearch, usualInstallOrder } from './installs.tsx'

const eventForm = formOf({
  app: optionalText,
  actor: optionalText,
  kind: optionalText,
  action: optionalText,
  target: optionalText,
  outcome: optionalText,
  request: optionalText,
  since: optionalText,
  until: optionalText,
  sort: optionalText,
})
const installForm = formOf({
  q: optionalText,
  app: optionalText,
  user: optionalText,
  kind: optionalText,
  status: optionalText,
  sort: optionalText,
})

/** The lists of the desk as CSV, with their filters and in their order. */
export const deskExportRoutes = (door: Door) =>
  new Elysia()
    .post(`${deskPaths.audit}/export`, async ({ request }) => {
      const { visit, fields } = await receiveFromOperator(door, request, eventForm, 'none')
      const { app = '', actor = '', kind = '', action = '', target = '', outcome = '', since = '', until = '' } = fields
      const { request: asked = '', sort = '' } = fields
      const search = readSearch({ app, actor, kind, action, target, outcome, request: asked, since, until, sort })
      const rows = eventRows(await visit.asOperator().do(exportEvents, search))
      return csvDownload(visit, 'audit', eventColumns, rows, isOperator)
    })
    .post(`${deskPaths.installs}/export`, async ({ request }) => {
      const { visit, fields } = await receiveFromOperator(door, request, installForm, 'none')
      const search = readInstallSearch(fields)
      const order = timeOrderOf(fields.sort, usualInstallOrder(fields.status))
      const rows = await visit.asOperator().do(exportInstalls, search, order)
      return csvDownload(visit, 'installs', installColumns, rows, isOperator)
    })

const installColumns = {
  id: ({ id }: DescribedInstall) => id,
  app: ({ app }: DescribedInstall) => app,
  app_name: ({ appName }: DescribedInstall) => appName,
  user: ({ user }: DescribedInstall) => user,
  kind: ({ kind }: DescribedInstall) => kind,
  installed_on: ({ resource }: DescribedInstall) => resource,
  environment: ({ environment }: DescribedInstall) => environment,
  approval: ({ approval }: DescribedInstall) => approval,
  state: ({ state }: DescribedInstall) => state,
  scopes: ({ scopes }: DescribedInstall) => formatScope(scopes),
  requested: ({ createdAt }: DescribedInstall) => new Date(createdAt).toISOString(),
  changed: ({ updatedAt }: DescribedInstall) => new Date(updatedAt).toISOString(),
} as const

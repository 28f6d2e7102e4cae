import { attachment } from '../domain/download-name.ts'
import { refusalNow, type Rule } from '../operations/acting-as.ts'
import type { AppEvent } from '../operations/audit/read-audit.ts'
import type { Names } from '../operations/audit/names.ts'
import { authenticateSession } from '../operations/authenticate.ts'
import { type AuditLine, plainSentence } from './audit-words.ts'
import { streamOf } from './page.ts'
import type { Visit } from './visit.ts'

/** What each column shows of a row, by the name of the column. */
export type CsvColumns<Row> = Readonly<Record<string, (row: Row) => string | number | null>>

/**
 * Rows as a CSV file that is saved and never shown. They are read as fast as the connection takes them, and only as long as the
 * session of the person is live and the rule holds: both are asked again before each page of rows is sent.
 */
export const csvDownload = <Row>(
  visit: Visit,
  name: string,
  columns: CsvColumns<Row>,
  pages: AsyncGenerator<readonly Row[]>,
  may: Rule,
): Response => {
  const day = new Date(visit.call.now).toISOString().slice(0, 10)
  return new Response(streamOf(linesOf(visit, columns, pages, may)), {
    headers: {
      'content-type': 'text/csv; charset=utf-8; header=present',
      'content-disposition': attachment(`${name}-${day}.csv`),
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
      'cross-origin-resource-policy': 'same-origin',
    },
  })
}

async function* linesOf<Row>(
  { door, sessionToken, userId }: Visit,
  columns: CsvColumns<Row>,
  pages: AsyncGenerator<readonly Row[]>,
  may: Rule,
): AsyncGenerator<Uint8Array> {
  const cells = Object.values(columns)
  yield Buffer.from(byteOrderMark + csvLine(Object.keys(columns)))
  for await (const rows of pages) {
    if ((await authenticateSession(door.platform, sessionToken)) === null) throw new Error('The session has ended.')
    const refusal = await refusalNow(door.platform, userId, may)
    if (refusal !== null) throw refusal
    yield Buffer.from(rows.map((row) => csvLine(cells.map((cell) => cell(row)))).join(''))
  }
}

/** The columns of events, as operators and as owners see them. */
export const eventColumns: CsvColumns<EventRow> = {
  time: ({ event }) => new Date(event.at).toISOString(),
  event: ({ event, names }) => plainSentence(event, names),
  action: ({ event }) => event.action,
  outcome: ({ event }) => event.outcome,
  reason: ({ event }) => event.reason,
  actor_kind: ({ event }) => event.actorKind,
  actor: ({ event }) => event.actorId,
  app: ({ event }) => event.appId,
  environment: ({ event }) => event.environment,
  target: ({ event }) => event.target,
  address: ({ event }) => event.address,
  request: ({ event }) => event.requestId,
  id: ({ event }) => event.id,
  detail: ({ event }) => event.detail,
}

type EventRow = { readonly event: AuditLine; readonly names: Names }

/** Each event with the names of its page. */
export async function* eventRows(
  pages: AsyncGenerator<{ readonly events: readonly (AuditLine | AppEvent)[]; readonly names: Names }>,
): AsyncGenerator<readonly EventRow[]> {
  for await (const { events, names } of pages) yield events.map((event) => ({ event, names }))
}

/**
 * One line of CSV with these cells (RFC 4180). Every text is quoted, because spreadsheets of many countries separate cells by
 * semicolons or tabs.
 */
export const csvLine = (cells: readonly (string | number | null)[]): string => `${cells.map(csvCell).join(',')}\r\n`

/** At the beginning of a file, so that Excel reads it as UTF-8. */
const byteOrderMark = '\ufeff'

/**
 * A cell that begins with one of these is a formula to a spreadsheet, also in their full-width form, and also after a tab or a
 * line end. An apostrophe before it makes it text. So does one behind a separator within the text: a spreadsheet that separates by
 * semicolons takes the quotes of all cells but the first for letters.
 */
const formula = /^(?=[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20])|(?<=[;,\t\r\n]"*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])/gu

const csvCell = (value: string | number | null): string => {
  if (value === null) return ''
  return typeof value === 'string' ? `"${value.replaceAll(formula, "'").replaceAll('"', '""')}"` : String(value)
}

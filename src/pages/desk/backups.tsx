import { bytesInWords } from '../../domain/text.ts'
import type { Door } from '../../http/door.ts'
import {
  type BegunWork,
  keptBackups,
  startBackup,
  startBackupCheck,
  type BackupState,
  readBackups,
} from '../../operations/backups/backups.ts'
import { changed, formPage, navigationAbove, pageFor, routes } from '../change.tsx'
import { Badge } from '../design/badge.tsx'
import { ConfirmationPage } from '../design/confirmation.tsx'
import { Field } from '../design/field.tsx'
import { ButtonForm, Form, SendButton } from '../design/form.tsx'
import { StatTile, StatTiles } from '../design/stat.tsx'
import { actionColumn, Table } from '../design/table.tsx'
import { CodeBlock, Lines, Time } from '../design/values.tsx'
import { emptyForm, formOf, numberIn, optionalText, text } from '../form.ts'
import { page, seeOther } from '../page.ts'
import { proveFirst } from '../proof.ts'
import type { Visit } from '../visit.ts'
import { agoInWords, counted } from '../words.ts'
import { deskArea, DeskPage, deskPaths } from './desk-page.tsx'

/** `removes` is how many older backups the person was told would be removed. */
const backupForm = formOf({ keep: text, removes: optionalText })

/** The backups that the server makes of its own database. */
export const backupRoutes = routes(() => [
  formPage(deskPaths.backups, {
    by: 'operator',
    effect: 'destroys backups',
    isPartOfPage: true,
    form: backupForm,
    show,
    act: async ({ visit, fields, ticket }) => {
      const keep = numberIn(fields.keep)
      const { files = [] } = (await readBackups(visit.door.platform)) ?? {}
      const removed = Number.isInteger(keep) && keep >= keptBackups.least ? Math.max(0, files.length + 1 - keep) : 0
      if (removed > 0 && fields.removes !== String(removed)) return await showQuestion(visit, keep, removed)
      return begun(
        visit.door,
        await visit.asOperator({ ticket }).do(startBackup, { server: visit.door.platform, keep }),
      )
    },
  }),
  // A backup has no page of its own. This is what is loaded instead of an address that only takes a form.
  pageFor('operator', `${deskPaths.backups}/:name`, () => seeOther(deskPaths.backups)),
  changed(`${deskPaths.backups}/:name/check`, {
    by: 'operator',
    effect: 'reads',
    form: emptyForm,
    show,
    act: async ({ visit }, { name }) =>
      begun(visit.door, await visit.asOperator().do(startBackupCheck, { server: visit.door.platform, name })),
  }),
])

/** The work goes on after the answer. What it finds is on the page, and what failed without a reason in the log. */
const begun = (door: Door, { finished }: BegunWork): Response => {
  finished.catch((cause: unknown) => door.log.error('backup.failed', { cause }))
  return seeOther(deskPaths.backups)
}

const show = async (visit: Visit): Promise<Response> => {
  const state = await readBackups(visit.door.platform)
  return page(
    <DeskPage
      title="Backups"
      visit={visit}
      tab={deskPaths.backups}
      reloads={state !== null && state.work !== null && visit.refused === undefined}
    >
      {state === null ? <OfPostgres /> : <OfFile visit={visit} state={state} />}
    </DeskPage>,
  )
}

/** Older backups cannot be made again. */
const showQuestion = async (visit: Visit, keep: number, removed: number): Promise<Response> =>
  page(
    <ConfirmationPage
      visit={visit}
      section="desk"
      nav={await navigationAbove(deskArea, visit, '', deskPaths.backups)}
      title={`Remove ${counted(removed, 'older backup')}?`}
      says={
        <p>
          The server makes a new backup and checks it. If it is good, only the newest {keep} stay. What is removed
          cannot be restored.
        </p>
      }
      counts={[[removed, 'older backup is removed', 'older backups are removed']]}
      button="Make a backup and remove them"
      back={{ href: deskPaths.backups, name: 'Backups' }}
      action={deskPaths.backups}
      fields={
        <>
          <input type="hidden" name="keep" value={String(keep)} />
          <input type="hidden" name="removes" value={String(removed)} />
        </>
      }
    />,
  )

type OfFileProps = { readonly visit: Visit; readonly state: BackupState }

const OfFile = ({ visit, state }: OfFileProps) => {
  const now = visit.door.platform.clock.now()
  return (
    <>
      <StatTiles>
        <StatTile
          label="Last backup"
          value={state.lastBackupAt === null ? 'None yet' : agoInWords(state.lastBackupAt, now)}
          change="By this page or the command line"
        />
        <StatTile label="Backups kept" value={state.files.length} change={bytesInWords(sizeOf(state.files))} />
        <StatTile label="Database" value={bytesInWords(state.databaseBytes)} />
      </StatTiles>
      <Work state={state} now={now} />
      <h2>Make a backup</h2>
      <p>
        The server copies the database to <code>{state.folder}</code> while it keeps running, and checks the copy. If
        the copy is good, it removes older backups beyond the number to keep.
      </p>
      {state.dailyKeep === null ? null : (
        <p>
          It does so by itself every day at 03:00 UTC, and keeps the newest {state.dailyKeep} (<code>BACKUP_KEEP</code>
          ).
        </p>
      )}
      {state.lackOfRoom === null ? null : <p class="problem">{state.lackOfRoom}</p>}
      <Form action={deskPaths.backups} visit={visit} class="measure" asks={proveFirst(visit)}>
        <Field
          label="Backups to keep"
          name="keep"
          hint="Including the new one. Older ones are removed."
          input={{
            type: 'number',
            value: String(state.dailyKeep ?? keptBackups.default),
            min: keptBackups.least,
            max: keptBackups.most,
            required: true,
          }}
        />
        <SendButton>Make a backup</SendButton>
      </Form>
      <h2>Backups of this server</h2>
      <Table
        label="Backups of this server"
        rows={state.files}
        rowHeader="File"
        columns={{
          File: ({ name }) => <code>{name}</code>,
          Made: ({ madeAt }) => <Time at={madeAt} />,
          Size: ({ sizeBytes }) => bytesInWords(sizeBytes),
          'Last check': ({ checked }) => <Checked outcome={checked} />,
          [actionColumn]: ({ name }) => (
            <ButtonForm action={`${deskPaths.backups}/${name}/check`} visit={visit} look="small">
              Check <span class="unseen">{name}</span>
            </ButtonForm>
          ),
        }}
        empty="No backups here yet."
      />
      <h2>Keep them safe</h2>
      <p>
        These files are on the machine of this server. Copy the newest one to another machine. A backup has all password
        hashes and signing keys, so it cannot be downloaded here.
        {state.dailyKeep === null
          ? ' With BACKUP_DIRECTORY the server makes one every day. This command prints a timer that does it instead:'
          : null}
      </p>
      {state.dailyKeep === null ? (
        <CodeBlock id="timer" label="Daily backups" code="app-platform print backup-timer --to /etc/systemd/system" />
      ) : null}
      <p>
        Restoring needs a stopped server: see the guide <a href="/docs/guides/backup-and-restore">Backup and restore</a>
        .
      </p>
    </>
  )
}

const sizeOf = (files: BackupState['files']): number => files.reduce((total, { sizeBytes }) => total + sizeBytes, 0)

/** The work that goes on now, or how the latest backup ended. */
const Work = ({
  state: { work, latest, databaseBytes },
  now,
}: Pick<OfFileProps, 'state'> & { readonly now: number }) => {
  if (work !== null) {
    const progress = `${bytesInWords(work.bytes)} of about ${bytesInWords(databaseBytes)} copied`
    return (
      <p class="notice">
        {work.kind === 'backup' ? `A backup is being made: ${progress}.` : `The backup ${work.name} is being checked.`}{' '}
        It started {agoInWords(work.startedAt, now)}. This page follows it by itself.
      </p>
    )
  }
  if (latest === null) return null
  if (latest.problems.length === 0) {
    return (
      <p>
        <Badge tone="good">Done</Badge> The latest backup ended <Time at={latest.endedAt} /> and passed its check.
      </p>
    )
  }
  return (
    <div class="problem">
      <p>
        The latest backup failed <Time at={latest.endedAt} />:
      </p>
      <ul>
        {latest.problems.map((sentence) => (
          <li>{sentence}</li>
        ))}
      </ul>
    </div>
  )
}

const Checked = ({ outcome }: { readonly outcome: BackupState['files'][number]['checked'] }) => {
  if (outcome === null) return <>Not since the server started</>
  const { problems, endedAt } = outcome
  return (
    <Lines
      of={[
        problems.length === 0 ? <Badge tone="good">No problems found</Badge> : <Badge tone="bad">Damaged</Badge>,
        ...problems.slice(0, 3),
        <Time at={endedAt} />,
      ]}
    />
  )
}

const dumpCommand = `install -d -m 0700 -o app-platform /var/lib/app-platform-backups
app-platform backup /var/lib/app-platform-backups --keep 14`

const OfPostgres = () => (
  <>
    <p>
      The data is in PostgreSQL. Dump it while the servers run, on a machine with <code>pg_dump</code>; the dump is
      checked:
    </p>
    <CodeBlock id="dump" label="Back up PostgreSQL" code={dumpCommand} />
    <p>
      A dump has all password hashes and signing keys: keep it private, and on another machine. The guide{' '}
      <a href="/docs/guides/postgresql">PostgreSQL</a> shows how to restore it, and point-in-time recovery.
    </p>
  </>
)

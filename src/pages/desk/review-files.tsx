import { fileChanges, type ComparedFile } from '../../domain/archive-difference.ts'
import { refuse } from '../../domain/errors.ts'
import { bytesInWords, visibleFileText, visibleText } from '../../domain/text.ts'
import { refuseRepeated } from '../../http/wire.ts'
import { pageInMemory } from '../../operations/page.ts'
import { readReview, type Review } from '../../operations/versions/lists.ts'
import {
  listReviewFiles,
  readReviewFile,
  type ReviewFiles,
  shownBytes,
  type ShownFile,
} from '../../operations/versions/review.ts'
import { pageFor, type ParamsOf, routes } from '../change.tsx'
import { type BadgeWords, StateBadge } from '../design/badge.tsx'
import { FilterBar, noMatch, Pager, Segments } from '../design/list-tools.tsx'
import { Table } from '../design/table.tsx'
import { list, listRoutes, search, tabs } from '../list.ts'
import { page } from '../page.ts'
import { unlessDamaged } from '../version.tsx'
import type { Visit } from '../visit.ts'
import { DeskPage, deskPaths, reviewPath } from './desk-page.tsx'

// What is in the archive of a version is shown as text only. Nothing of it is ever rendered or executed here.

const changeWords = {
  added: ['good', 'Added'],
  changed: ['waiting', 'Changed'],
  removed: ['bad', 'Removed'],
  same: ['plain', 'Unchanged'],
} as const satisfies Record<ComparedFile['change'], BadgeWords>

const reviewFiles = list('review-files', '/desk/reviews/:slug/:version/files', {
  q: search('Part of a path', { maxLength: 1024 }),
  change: tabs('Files', [
    ['all', 'All'],
    ['added', 'Added'],
    ['changed', 'Changed'],
    ['removed', 'Removed'],
    ['same', 'Unchanged'],
  ]),
})

export const reviewFilesPath = (slug: string, version: string): string => reviewFiles.to({}, { slug, version })

type Named = ParamsOf<typeof reviewFiles.path>

/** The files in the archive of a version, and the text of one. */
export const reviewFilesRoutes = routes(() => [
  listRoutes(reviewFiles, { by: 'operator', show }),
  pageFor('operator', '/desk/reviews/:slug/:version/files/text', async (visit, { slug, version }) => {
    const { door, call } = visit
    const review = await readReview(door.platform, slug, version)
    refuseRepeated(call.request, ['path'])
    const path = new URL(call.request.url).searchParams.get('path') ?? '' // as it is: a name may begin with a space
    const reading = readReviewFile(door.platform, review.version, path)
    const file = await unlessDamaged(door, call, review.version, reading)
    if (file === null) throw refuse('route_not_found')
    return page(<FilePage visit={visit} review={review} path={path} file={file} />)
  }),
])

const show = async (visit: Visit, params: Named): Promise<Response> => {
  const { door, call } = visit
  const review = await readReview(door.platform, params.slug, params.version)
  const asked = reviewFiles.read(visit, params)
  const { q, change } = asked.values
  const read = await unlessDamaged(door, call, review.version, listReviewFiles(door.platform, review))
  const all = read.kind === 'files' ? read.files : []
  const sought = q === '' ? all : all.filter(({ path }) => path.toLowerCase().includes(q.toLowerCase()))
  const chosen = sought.filter((file) => change === 'all' || file.change === change)
  const rows = await asked.rows(async (window) => pageInMemory(chosen, window, ({ place }) => String(place)))
  const countOf = (one: ComparedFile['change']) => sought.filter((file) => file.change === one).length
  return page(
    <FilesFrame visit={visit} review={review} title={`Files of version ${review.version.version}`}>
      <p class="muted">{sentenceOf(read)}</p>
      {read.kind === 'files' && read.hasOtherBeginning ? (
        <p class="problem">
          This file does not begin as a ZIP archive does. Other programs may read something else in it than what is
          listed here.
        </p>
      ) : null}
      {read.kind !== 'files' ? null : (
        <>
          <Segments
            label="Files"
            links={(['all', ...fileChanges] as const).map((one) => ({
              href: asked.with({ change: one }),
              name: one === 'all' ? 'All' : changeWords[one][1],
              count: one === 'all' ? sought.length : countOf(one),
              current: one === change,
            }))}
          />
          <FilterBar of={asked} />
          <Table
            label="Files"
            rows={rows.rows}
            rowHeader="Path"
            columns={{
              Path: ({ path, change: became }) => <a href={textPath(review, path, became)}>{visibleText(path)}</a>,
              Change: ({ change: became }) => <StateBadge of={changeWords[became]} />,
              Size: ({ sizeBefore, sizeAfter }) =>
                sizeBefore === null || sizeAfter === null || sizeBefore === sizeAfter
                  ? bytesInWords(sizeAfter ?? sizeBefore ?? 0)
                  : `${bytesInWords(sizeBefore)} → ${bytesInWords(sizeAfter)}`,
            }}
            empty={noMatch(rows, 'The archive has no files.')}
          />
          <Pager of={rows} total={chosen.length} />
        </>
      )}
    </FilesFrame>,
  )
}

/** A file that was removed is still in the live version. */
const textPath = ({ app, version, live }: Review, path: string, change: ComparedFile['change']): string =>
  `${reviewPath(app.slug, change === 'removed' && live !== null ? live.version : version.version, 'files', 'text')}?${new URLSearchParams({ path }).toString()}`

const sentenceOf = (read: ReviewFiles): string => {
  switch (read.kind) {
    case 'no file':
      return 'No file was uploaded with this version.'
    case 'no archive':
      return 'The file is no ZIP archive, so there is nothing to list.'
    case 'refused':
      return `The archive cannot be listed. ${read.sentence}`
    case 'files':
      return `${read.comparedWith === null ? 'There is no live version to compare them with.' : `Compared with the live version ${read.comparedWith}. A file is unchanged if its packed bytes are.`} Sizes are those that the archive states.`
    default:
      return read satisfies never
  }
}

type FrameProps = {
  readonly visit: Visit
  readonly review: Review
  readonly title: string
  /** The page above, besides that of the review. */
  readonly above?: { readonly href: string; readonly name: string }
  readonly children: preact.ComponentChildren
}

const FilesFrame = ({ visit, review: { app, version }, title, above, children }: FrameProps) => (
  <DeskPage
    title={title}
    belongsTo={app.name}
    crumbs={[
      { href: reviewPath(app.slug, version.version), name: `${app.name} ${version.version}` },
      ...(above === undefined ? [] : [above]),
    ]}
    visit={visit}
    tab={deskPaths.reviews}
  >
    {children}
  </DeskPage>
)

type FilePageProps = Pick<FrameProps, 'visit' | 'review'> & { readonly path: string; readonly file: ShownFile }

const FilePage = ({ visit, review, path, file }: FilePageProps) => {
  const { app, version } = review
  const name = visibleText(path)
  return (
    <FilesFrame
      visit={visit}
      review={review}
      title={name}
      above={{ href: reviewFilesPath(app.slug, version.version), name: 'Files' }}
    >
      {file.kind === 'text' ? (
        <>
          <p class="muted">
            {file.isCut ? `Only the first ${shownBytes / 1024} KiB are shown. ` : ''}Invisible characters and direction
            marks are shown as escapes.
          </p>
          <pre tabIndex={0} role="region" aria-label={`The text of ${name}`}>
            <code>{visibleFileText(file.text)}</code>
          </pre>
        </>
      ) : (
        <p class="muted">{notShown[file.kind]} Download the archive to look at it.</p>
      )}
    </FilesFrame>
  )
}

const notShown = {
  'not text': 'This file is not shown, because it is not text in UTF-8.',
  'unknown packing': 'This file is not shown, because it is encrypted or packed in an unusual way.',
  damaged: 'This file is damaged in the archive.',
} as const

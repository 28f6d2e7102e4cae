import { refuse } from '../domain/errors.ts'
import type { SeenVersion } from '../operations/versions/move-version.ts'

/** What a decision is bound to, in one hidden field. Nothing in it is secret: the store is asked whether it still holds. */
export const seenField = ({ id, revision, submittedAt, liveId }: SeenVersion): string =>
  [id, revision, submittedAt ?? '', liveId ?? ''].join(' ')

/** @throws invalid_request for a field that no page of ours has */
export const readSeen = (field: string): SeenVersion => {
  const [, id, revision, submittedAt, liveId] =
    /^(ver_[0-9a-f]{32}) (\d{1,15}) (\d{0,15}) ((?:ver_[0-9a-f]{32})?)$/.exec(field) ?? []
  if (id === undefined) throw refuse('invalid_request', { param: 'seen' })
  return {
    id,
    revision: Number(revision),
    submittedAt: submittedAt === '' ? null : Number(submittedAt),
    liveId: liveId === '' || liveId === undefined ? null : liveId,
  }
}

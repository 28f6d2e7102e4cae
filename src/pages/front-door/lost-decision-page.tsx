import type { PlatformError } from '../../domain/errors.ts'
import { callOf } from '../../http/call.ts'
import { Layout } from '../layout.tsx'
import { page } from '../page.ts'

type LostDecisionProps = {
  readonly error: PlatformError
  /** Back to the question; null where another site may have written it. */
  readonly startAgain: string | null
}

/** A decision that was not carried out: it had been sent before, or its page is not good for one any more. */
export const lostDecisionPage = (
  platformName: string,
  request: Request,
  { error, startAgain }: LostDecisionProps,
): Response => {
  const call = callOf(request)
  call.notes.errorCode = error.code
  const wasSpent = error.code === 'idempotency_key_reused'
  return page(
    <Layout
      title={wasSpent ? 'You have already decided' : 'Nothing was decided'}
      visit={{ platformName }}
      width="narrow"
    >
      {wasSpent ? <AlreadyDecided /> : <NothingDecided />}
      {startAgain === null ? (
        <p>To decide, go back to the app and begin there once more.</p>
      ) : (
        <p>
          <a href={startAgain} class="button">
            Ask me again
          </a>
        </p>
      )}
      <p class="muted">
        Request <code>{call.requestId}</code>
      </p>
    </Layout>,
    { refusal: error },
  )
}

const AlreadyDecided = () => (
  <>
    <p>This page was sent before, and a decision counts once: your first answer stands, and nothing more was done.</p>
    <p>
      If you allowed access and want it back, look under <a href="/account/apps">Connected apps</a>. If you want to
      decide anew, you can be asked again.
    </p>
  </>
)

const NothingDecided = () => (
  <p>
    The page that was sent is no longer good for a decision: it is older than ten minutes, it was shown to another
    account or in another browser, or it was changed on its way. No app was given anything.
  </p>
)

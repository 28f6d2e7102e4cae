import type { ComponentChildren } from 'preact'
import { Nothing } from './empty.tsx'
import { Ago, Details, Time } from './values.tsx'

type TimelineEvent = {
  readonly at: number
  /** A sentence, such as `Ada activated 3.0.0 of Newsletter`. */
  readonly words: ComponentChildren
  /** Who did it, where the sentence does not say so. */
  readonly actor?: ComponentChildren
  /** An `Avatar`. */
  readonly avatar?: ComponentChildren
  /** IDs and JSON. */
  readonly details?: ComponentChildren
}

type TimelineProps = {
  readonly events: readonly TimelineEvent[]
  readonly empty?: ComponentChildren
  readonly label?: string
  /** Epoch milliseconds: times are told as `2 h ago`. Without it they are told exactly. */
  readonly now?: number
}

/** What happened, newest first. */
export const Timeline = ({ events, empty, label, now }: TimelineProps) =>
  events.length === 0 ? (
    <Nothing words={empty} />
  ) : (
    <ol class="timeline" aria-label={label}>
      {events.map(({ at, words, actor, avatar, details }) => (
        <li>
          {avatar ?? <span class="timeline-dot" aria-hidden="true" />}
          <div class="timeline-main">
            <p class="timeline-words">{words}</p>
            <p class="timeline-facts">
              {actor === undefined ? null : <>{actor} · </>}
              {now === undefined ? <Time at={at} /> : <Ago at={at} now={now} />}
            </p>
            {details === undefined ? null : <Details summary="Details">{details}</Details>}
          </div>
        </li>
      ))}
    </ol>
  )

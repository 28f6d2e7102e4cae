import type { ComponentChildren } from 'preact'
import { Nothing } from './list-tools.tsx'
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
  readonly label?: string | undefined
  /** Epoch milliseconds: times are told as `2 h ago`. Without it they are told exactly. */
  readonly now?: number | undefined
  /** Under their days. */
  readonly byDay?: boolean
}

/** What happened, newest first. */
export const Timeline = ({ events, empty, label, now, byDay = false }: TimelineProps) => {
  if (events.length === 0) return <Nothing words={empty} />
  if (!byDay) return <Events events={events} label={label} now={now} />
  const days = Map.groupBy(events, ({ at }) => new Date(at).toISOString().slice(0, 10))
  return (
    <div class="timeline-days" role="group" aria-label={label}>
      {[...days].map(([day, ofDay]) => (
        <>
          <p class="timeline-day" id={`day-${day}`}>
            {dayInWords(day)}
          </p>
          <Events events={ofDay} now={now} labelledBy={`day-${day}`} />
        </>
      ))}
    </div>
  )
}

/** The script puts the events under the days of the reader's own time zone. */
const dayInWords = (day: string): string =>
  `${new Date(day).toLocaleDateString('en-GB', { dateStyle: 'full', timeZone: 'UTC' })} (UTC)`

type EventsProps = Pick<TimelineProps, 'events' | 'label' | 'now'> & { readonly labelledBy?: string }

const Events = ({ events, label, now, labelledBy }: EventsProps) => (
  <ol class="timeline" aria-label={label} aria-labelledby={labelledBy}>
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

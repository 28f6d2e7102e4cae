import type { ComponentChildren } from 'preact'

type DetailsProps = {
  readonly summary: ComponentChildren
  readonly open?: boolean
  readonly children: ComponentChildren
}

/** What few people need, behind a line that opens it. Works without JavaScript. */
export const Details = ({ summary, open = false, children }: DetailsProps) => (
  <details class="more" open={open}>
    <summary>{summary}</summary>
    <div class="more-body">{children}</div>
  </details>
)

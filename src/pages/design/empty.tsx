import type { ComponentChildren } from 'preact'

type EmptyStateProps = {
  readonly title: string
  /** What will be here, and how it gets here. */
  readonly children?: ComponentChildren
  /** The link or form that makes the first one. */
  readonly action?: ComponentChildren
}

/** Shown where a list or a page has nothing yet. */
export const EmptyState = ({ title, children, action }: EmptyStateProps) => (
  <div class="empty-state">
    <p class="empty-title">{title}</p>
    {children === undefined ? null : <div class="empty-about">{children}</div>}
    {action === undefined ? null : <div class="empty-action">{action}</div>}
  </div>
)

/** What a list shows instead of its rows: a sentence, or an `EmptyState`. */
export const Nothing = ({ words }: { readonly words: ComponentChildren }) => {
  if (words === undefined || words === null) return null
  return typeof words === 'string' ? <p class="nothing">{words}</p> : <>{words}</>
}

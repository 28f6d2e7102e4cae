import type { ComponentChildren } from 'preact'

/** A wide table that scrolls by itself, so that the page does not; reachable by keyboard. */
export const Scroll = ({ label, children }: { readonly label: string; readonly children: ComponentChildren }) => (
  <div class="scroll" role="region" aria-label={label} tabIndex={0}>
    {children}
  </div>
)

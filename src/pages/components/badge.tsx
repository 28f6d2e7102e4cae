import type { ComponentChildren } from 'preact'

export type Tone = 'good' | 'waiting' | 'bad' | 'plain'

/** A short word about a state. The word says it all; the colour only helps. */
export const Badge = ({ tone = 'plain', children }: { readonly tone?: Tone; readonly children: ComponentChildren }) => (
  <span class={`badge ${tone}`}>{children}</span>
)

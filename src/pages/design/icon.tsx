/** Drawn on a square of 16, with lines in the colour of the text. */
const paths = {
  apps: 'M2.5 2.5h4v4h-4zM9.5 2.5h4v4h-4zM2.5 9.5h4v4h-4zM9.5 9.5h4v4h-4z',
  backup: 'M2.5 3h11v3.5h-11zM2.5 9.5h11V13h-11zM5 4.8h.01M5 11.3h.01',
  bolt: 'M9 1.8 3.5 9H8l-1 5.2L12.5 7H8z',
  box: 'M8 1.8l5.5 2.8v6.8L8 14.2l-5.5-2.8V4.6zM2.5 4.6 8 7.4l5.5-2.8M8 7.4v6.8',
  check: 'M3 8.5 6.5 12 13 4.5',
  code: 'M5.5 4.5 2 8l3.5 3.5M10.5 4.5 14 8l-3.5 3.5',
  gauge: 'M2.2 11.5a6 6 0 1 1 11.6 0M8 9.5l2.5-3',
  home: 'M2.5 7 8 2.5 13.5 7v6.5h-4v-4h-3v4h-4z',
  key: 'M2.5 10.8a2.7 2.7 0 1 0 5.4 0 2.7 2.7 0 0 0-5.4 0M7.2 8.8l6.3-6.3M11 5l2 2',
  link: 'M6.8 9.2a2.6 2.6 0 0 0 3.7 0L12.7 7A2.6 2.6 0 0 0 9 3.3l-.8.8M9.2 6.8a2.6 2.6 0 0 0-3.7 0L3.3 9A2.6 2.6 0 0 0 7 12.7l.8-.8',
  list: 'M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4h.01M2.5 8h.01M2.5 12h.01',
  lock: 'M3.5 7.5h9v6h-9zM5.5 7.5V5a2.5 2.5 0 0 1 5 0v2.5',
  mail: 'M2 3.5h12v9H2zM2.5 4 8 8.8 13.5 4',
  open: 'M2.5 8h10M9 4.5 12.5 8 9 11.5',
  out: 'M6.5 2.5h-4v11h4M10 5l3 3-3 3M13 8H6',
  play: 'M4.5 3v10l8-5z',
  pulse: 'M1.8 8.5h3l2-5 3 9 2-4h2.4',
  screen: 'M2 3h12v8H2zM6 13.5h4',
  shield: 'M8 1.8l5.2 1.8v4c0 3.2-2.1 5.4-5.2 6.6-3.1-1.2-5.2-3.4-5.2-6.6v-4z',
  sliders:
    'M2.5 4.5h6M11.5 4.5h2M8.5 4.5a1.5 1.5 0 1 0 3 0 1.5 1.5 0 0 0-3 0M2.5 11.5h2M7.5 11.5h6M4.5 11.5a1.5 1.5 0 1 0 3 0 1.5 1.5 0 0 0-3 0',
  tag: 'M2.5 2.5h5l6 6-5 5-6-6zM5.2 5.2h.01',
  user: 'M5.25 5.5a2.75 2.75 0 1 0 5.5 0 2.75 2.75 0 0 0-5.5 0M2.5 13.5c.8-2.6 2.9-4 5.5-4s4.7 1.4 5.5 4',
  users:
    'M3.8 5.5a2.2 2.2 0 1 0 4.4 0 2.2 2.2 0 0 0-4.4 0M1.5 12.8c.6-2.1 2.3-3.3 4.5-3.3s3.9 1.2 4.5 3.3M10.5 3.5a2.1 2.1 0 0 1 0 4M12 9.8c1.3.5 2.1 1.5 2.5 3',
} as const

export type IconName = keyof typeof paths

/** A small picture beside a word that says the same. */
export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
    <path d={paths[name]} />
  </svg>
)

/** The mark of the platform beside its name; `assets/favicon.svg` has the same. */
export const Mark = () => (
  <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
    <rect width="32" height="32" rx="8" />
    <path d="M9 9h6v6H9zM17 17h6v6h-6zM9 17h6v6H9z" />
    <path class="mark-free" d="M20 7l5 5-5 5-5-5z" />
  </svg>
)

/** A picture in the place of an avatar, for things that are nobody's. */
export const IconTile = ({ name, small = false }: { readonly name: IconName; readonly small?: boolean }) => (
  <span class={`avatar plain${small ? ' small' : ''}`}>
    <Icon name={name} />
  </span>
)

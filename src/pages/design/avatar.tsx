type AvatarProps = {
  /** The colour is derived from it, so it stays the same when the name changes. */
  readonly id: string
  readonly name: string
  readonly small?: boolean
  /** The address of the icon of an app; null or omitted if it has none. */
  readonly icon?: string | null
}

const colours = 12

/** The icon of an app, or the initials of a name on a colour. Decoration only: the name is always beside it. */
export const Avatar = ({ id, name, small = false, icon = null }: AvatarProps) => {
  const size = small ? ' small' : ''
  if (icon !== null) return <img class={`avatar${size}`} src={icon} alt="" width={32} height={32} loading="lazy" />
  return (
    <span class={`avatar c${colourOf(id)}${size}`} aria-hidden="true">
      {initialsOf(name)}
    </span>
  )
}

/** FNV-1a: spreads IDs that differ in one character. */
const colourOf = (id: string): number => {
  let hash = 0x811c9dc5
  for (const byte of Buffer.from(id)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0
  return hash % colours
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })
/** Letters, digits and emoji. Marks that turn the direction of text are none of these. */
const visible = /[\p{L}\p{N}\p{Extended_Pictographic}\p{RI}]/u

/** The first character of the first word and of the last one that is no number, such as a version. Emoji stand alone. */
export const initialsOf = (name: string): string => {
  const words = name
    .slice(0, 400)
    .split(/[\s_.@-]+/u)
    .flatMap((word) => firstVisible(word))
  const [first = '?', ...others] = words
  const last = others.findLast((one) => !/\p{N}/u.test(one)) ?? ''
  return /[\p{Extended_Pictographic}\p{RI}]/u.test(first + last) ? first : capital(first) + capital(last)
}

/** One letter stays one, and Georgian begins no word with a capital. */
const capital = (letter: string): string => {
  const upper = letter.toUpperCase()
  return upper.length > letter.length || /\p{Script=Georgian}/u.test(letter) ? letter : upper
}

const firstVisible = (word: string): readonly string[] => {
  for (const { segment } of graphemes.segment(word)) {
    // A grapheme can have any number of marks, and control characters at its end.
    if (visible.test(segment))
      return [segment.replaceAll(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '').slice(0, 16)]
  }
  return []
}

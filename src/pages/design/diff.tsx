type DiffProps = {
  readonly before: string
  readonly after: string
  /** The name that screen readers announce. */
  readonly label?: string
}

type Line = { readonly kind: 'same' | 'removed' | 'added'; readonly text: string }

/** Lines without changes around them are left out, except this many. */
const context = 3
/** Longer texts are compared only by their common beginning and end, because the comparison takes time by the square. */
const comparedLines = 600

const marks = { same: ' ', removed: '−', added: '+' } as const
const spoken = { same: '', removed: 'Removed: ', added: 'Added: ' } as const

/** Two texts, line by line. */
export const Diff = ({ before, after, label = 'Changes' }: DiffProps) => {
  const lines = differencesOf(linesOf(before), linesOf(after))
  if (lines.every(({ kind }) => kind === 'same')) return <p class="nothing">Nothing changes.</p>
  return (
    <div class="diff" role="region" aria-label={label} tabIndex={0}>
      <ol>
        {hunksOf(lines).map((line) =>
          line === null ? (
            <li class="gap">
              <span class="unseen">Unchanged lines</span>
              <span aria-hidden="true">⋯</span>
            </li>
          ) : (
            <li class={line.kind}>
              <span class="mark" aria-hidden="true">
                {marks[line.kind]}
              </span>
              <code>
                {spoken[line.kind] === '' ? null : <span class="unseen">{spoken[line.kind]}</span>}
                <bdi>{line.text}</bdi>
              </code>
            </li>
          ),
        )}
      </ol>
    </div>
  )
}

const linesOf = (text: string): readonly string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'))

const linesAs = (kind: Line['kind'], texts: readonly string[]): readonly Line[] => texts.map((text) => ({ kind, text }))

/** Every line of both texts in order, by the longest common subsequence. */
export const differencesOf = (before: readonly string[], after: readonly string[]): readonly Line[] => {
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1
  let end = 0
  const most = Math.min(before.length, after.length) - start
  while (end < most && before.at(-1 - end) === after.at(-1 - end)) end += 1
  return [
    ...linesAs('same', before.slice(0, start)),
    ...middleOf(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...linesAs('same', before.slice(before.length - end)),
  ]
}

const middleOf = (before: readonly string[], after: readonly string[]): readonly Line[] => {
  if (before.length > comparedLines || after.length > comparedLines) {
    return [...linesAs('removed', before), ...linesAs('added', after)]
  }
  const width = after.length + 1
  // The length of the longest common subsequence of what follows, for each pair of positions.
  const common = new Uint16Array((before.length + 1) * width)
  const at = (left: number, right: number): number => common[left * width + right] ?? 0
  for (let left = before.length - 1; left >= 0; left -= 1) {
    for (let right = after.length - 1; right >= 0; right -= 1) {
      common[left * width + right] =
        before[left] === after[right] ? at(left + 1, right + 1) + 1 : Math.max(at(left + 1, right), at(left, right + 1))
    }
  }
  const lines: Line[] = []
  let [left, right] = [0, 0]
  while (left < before.length && right < after.length) {
    if (before[left] === after[right]) {
      lines.push(...linesAs('same', before.slice(left, left + 1)))
      left += 1
      right += 1
    } else if (at(left + 1, right) >= at(left, right + 1)) {
      lines.push(...linesAs('removed', before.slice(left, left + 1)))
      left += 1
    } else {
      lines.push(...linesAs('added', after.slice(right, right + 1)))
      right += 1
    }
  }
  return [...lines, ...linesAs('removed', before.slice(left)), ...linesAs('added', after.slice(right))]
}

/** The changed lines with some lines around them; null stands for the lines between. */
const hunksOf = (lines: readonly Line[]): readonly (Line | null)[] => {
  const isNear = (index: number) =>
    lines.slice(Math.max(0, index - context), index + context + 1).some(({ kind }) => kind !== 'same')
  return lines.flatMap((line, index) => {
    if (isNear(index)) return [line]
    return index === 0 || isNear(index - 1) ? [null] : []
  })
}

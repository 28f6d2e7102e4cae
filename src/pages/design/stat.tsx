import type { ComponentChildren } from 'preact'

/** A number for each day, oldest first. A day that is not over has a part of its number. */
export type Series = readonly { readonly day: string; readonly value: number; readonly isOver?: boolean }[]

type StatTileProps = {
  readonly label: string
  readonly value: ComponentChildren
  /** A comparison in words, such as `12 % more than in the 30 days before`. */
  readonly change?: ComponentChildren
  readonly series?: Series
  /** The page with the whole story. */
  readonly href?: string
}

/** A number with its development. */
export const StatTile = ({ label, value, change, series, href }: StatTileProps) => (
  <div class={href === undefined ? 'stat' : 'stat linked'}>
    <p class="stat-label">{href === undefined ? label : <a href={href}>{label}</a>}</p>
    <p class="stat-value">{value}</p>
    {change === undefined ? null : <p class="stat-change">{change}</p>}
    {series === undefined || series.length === 0 ? null : <Sparkline label={label} series={series} />}
  </div>
)

/** Tiles side by side. */
export const StatTiles = ({ children }: { readonly children: ComponentChildren }) => <div class="stats">{children}</div>

const [width, height, inset] = [240, 40, 2] as const

/** A line for the eye, and the same numbers as a table for screen readers. */
const Sparkline = ({ label, series }: { readonly label: string; readonly series: Series }) => {
  const points = pointsOf(series.map(({ value }) => value))
  const isOver = series.at(-1)?.isOver !== false
  return (
    <>
      <svg class="spark" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
        <polygon points={`${points.join(' ')} ${width},${height} 0,${height}`} />
        <polyline points={(isOver ? points : points.slice(0, -1)).join(' ')} />
        {isOver ? null : <polyline class="unfinished" points={points.slice(-2).join(' ')} />}
      </svg>
      <table class="unseen">
        <caption>{label}, by day</caption>
        <thead>
          <tr>
            <th scope="col">Day</th>
            <th scope="col">{label}</th>
          </tr>
        </thead>
        <tbody>
          {series.map(({ day, value, isOver = true }) => (
            <tr key={day}>
              <th scope="row">{isOver ? day : `${day}, so far`}</th>
              <td>{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  )
}

/** From the left edge to the right one; zero is at the bottom. */
const pointsOf = (values: readonly number[]): readonly string[] => {
  const most = Math.max(1, ...values)
  const step = width / Math.max(1, values.length - 1)
  const drawn = values.length === 1 ? [...values, ...values] : values
  return drawn.map((value, index) => {
    const y = height - inset - (value / most) * (height - 2 * inset)
    return `${round(values.length === 1 ? index * width : index * step)},${round(y)}`
  })
}

const round = (value: number): number => Math.round(value * 10) / 10

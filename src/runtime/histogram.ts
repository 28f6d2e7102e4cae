/** Other programs are scraped into the same database, so every name says whose metric it is. */
export const prefixed = (name: string): string => `app_platform_${name}`

/** A histogram for the Prometheus text format 0.0.4. */
export class Histogram {
  readonly #buckets: Float64Array
  #sum = 0

  /** `bounds`: the upper bounds of the buckets in seconds, ascending. */
  constructor(private readonly bounds: readonly number[]) {
    this.#buckets = new Float64Array(bounds.length + 1)
  }

  observe(milliseconds: number): void {
    const seconds = milliseconds / 1000
    let bucket = 0
    while (seconds > (this.bounds[bucket] ?? Number.POSITIVE_INFINITY)) bucket += 1
    this.#buckets[bucket] = (this.#buckets[bucket] ?? 0) + 1
    this.#sum += seconds
  }

  get count(): number {
    return this.#buckets.reduce((sum, count) => sum + count, 0)
  }

  /** The whole text of a histogram with this one series. */
  text(name: string, help: string): string {
    return [...histogramHead(prefixed(name), help), ...this.lines(prefixed(name)), ''].join('\n')
  }

  /** The lines of its series, without HELP and TYPE. `labels` is text such as `method="GET"`, or empty. */
  lines(name: string, labels = ''): readonly string[] {
    const others = labels === '' ? '' : `${labels},`
    const own = labels === '' ? '' : `{${labels}}`
    let running = 0
    const buckets = Array.from(this.#buckets, (count, index) => {
      running += count
      return `${name}_bucket{${others}le="${this.bounds[index] ?? '+Inf'}"} ${running}`
    })
    return [...buckets, `${name}_sum${own} ${this.#sum}`, `${name}_count${own} ${running}`]
  }
}

const histogramHead = (name: string, help: string) => [`# HELP ${name} ${help}`, `# TYPE ${name} histogram`]

/** Counts the answers of one route and method, by status. */
export type RouteTally = { answered(status: number, milliseconds: number): void }

const requestBounds = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** The counter and the histogram of all answers. */
export const createRequestTally = () => {
  const series: { readonly labels: string; readonly durations: Histogram }[] = []
  /** The labels of the failure of each route until it happens, so that the first one is a rise from 0. */
  const failures = new Set<string>()

  const route = (method: string, pattern: string): RouteTally => {
    const byStatus = new Map<number, Histogram>()
    const labelsOf = (status: number) =>
      `method="${escapedLabel(method)}",route="${escapedLabel(pattern)}",status="${status}"`
    failures.add(labelsOf(500))
    const open = (status: number): Histogram => {
      const labels = labelsOf(status)
      failures.delete(labels)
      const durations = new Histogram(requestBounds)
      byStatus.set(status, durations)
      series.push({ labels, durations })
      return durations
    }
    return {
      answered: (status, milliseconds) => (byStatus.get(status) ?? open(status)).observe(milliseconds),
    }
  }

  const duration = prefixed('http_request_duration_seconds')
  const total = prefixed('http_requests_total')
  const render = (): string =>
    [
      `# HELP ${total} Answers by route pattern, method and status.`,
      `# TYPE ${total} counter`,
      ...series.map(({ labels, durations }) => `${total}{${labels}} ${durations.count}`),
      ...Array.from(failures, (labels) => `${total}{${labels}} 0`),
      ...histogramHead(duration, 'Time from the first byte handed to us to the answer handed back.'),
      ...series.flatMap(({ labels, durations }) => durations.lines(duration, labels)),
      '',
    ].join('\n')

  return { route, render }
}

/** The value of a label between its quotes. */
export const escapedLabel = (label: string): string =>
  label.replaceAll(/[\\"\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`))

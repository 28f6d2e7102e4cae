import { Histogram, histogramText } from './histogram.ts'

/** Counts the answers of one route and method, by status. */
export type RouteTally = { answered(status: number, milliseconds: number): void }

const bounds = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

type Cell = { readonly labels: string; readonly durations: Histogram }

/** The counter and the histogram that every answer touches. */
export const createRequestTally = () => {
  const cells: Cell[] = []

  const route = (method: string, pattern: string): RouteTally => {
    const byStatus = new Map<number, Histogram>()
    const open = (status: number): Histogram => {
      const labels = `method="${escape(method)}",route="${escape(pattern)}",status="${status}"`
      const durations = new Histogram(bounds)
      byStatus.set(status, durations)
      cells.push({ labels, durations })
      return durations
    }
    return {
      answered: (status, milliseconds) => (byStatus.get(status) ?? open(status)).observe(milliseconds),
    }
  }

  return { route, render: () => render(cells) }
}

const render = (cells: readonly Cell[]): string =>
  [
    '# HELP http_requests_total Answers by route pattern, method and status.',
    '# TYPE http_requests_total counter',
    ...cells.map(({ labels, durations }) => `http_requests_total{${labels}} ${durations.count}`),
    histogramText(
      'http_request_duration_seconds',
      'Time from the first byte handed to us to the answer handed back.',
      cells.flatMap(({ labels, durations }) => durations.lines('http_request_duration_seconds', labels)),
    ),
  ].join('\n')

const escape = (label: string): string =>
  label.replaceAll(/[\\"\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`))

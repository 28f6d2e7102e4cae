/** Of what the server wanted of the processor, so much it must have got for its goodput to say anything about it. */
const leastProcessorShare = 0.5

type Measured = {
  /** Goodput overloaded, of the peak. */
  readonly goodput: number
  /** The least share of the processor that the server got in any of the runs, from 0 to 1. */
  readonly processor: number
}

export const verdictOn = ({ goodput, processor }: Measured): 'holds' | 'broken' | 'no verdict' => {
  if (goodput >= 0.8) return 'holds'
  return processor < leastProcessorShare ? 'no verdict' : 'broken'
}

import type { Repeat } from '../../client/index.ts'
import { printable } from '../output.ts'

/** Tells a person why nothing happens for a while; a pipeline's log is told, too. */
export const tellOfWaiting = ({ error, waitMs }: Repeat): void => {
  if (waitMs < 1000) return
  process.stderr.write(`${printable(error.message)} Trying again in ${Math.ceil(waitMs / 1000)} s.\n`)
}

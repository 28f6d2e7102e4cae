import { array, nat } from 'fast-check'

/**
 * Texts of any code points. `string({ unit: 'binary' })` of fast-check makes the same, and takes half a second to build a
 * table of all of Unicode first.
 */
export const anyText = array(nat(0x10_ffff), { maxLength: 10 }).map((points) => String.fromCodePoint(...points))

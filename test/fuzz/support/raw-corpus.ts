import { casesOf, type RawCase } from './raw-case.ts'
import { bodies, chunks, lengthAndChunks, lengths } from './raw-framing.ts'
import { headers, promises, requestLines } from './raw-lines.ts'

/** By what they are about. */
export const rawCorpus: Readonly<Record<string, readonly RawCase[]>> = {
  'a body that could end in two places': casesOf(lengthAndChunks),
  'the length of a body': casesOf(lengths),
  'a body where none is looked for': casesOf(bodies),
  chunks: casesOf(chunks),
  'header lines': casesOf(headers),
  'a request line': casesOf(requestLines),
  'what a client asks before': casesOf(promises),
}

import type { Node } from 'jsonc-parser'
import { isKeptInteger, isWellFormedText } from '../../../domain/text.ts'
import type { FieldFault } from './manifest-fields.ts'

/** As deep as the server reads, one level of which is the upload around the manifest. */
const mostLevels = 31

/**
 * What JSON allows and no two programs read alike, anywhere in the tree: the server refuses it, and cannot say where. A
 * number too large would be sent as null, a long one as another, of two fields of one name one would be lost. `text` is
 * what the tree was made of.
 */
export const strictFaults = (text: string, node: Node, level = 1): readonly FieldFault[] => {
  const children = node.children ?? []
  switch (node.type) {
    case 'object':
    case 'array':
      if (level > mostLevels) return [{ node, sentence: `This is more than ${mostLevels} levels deep.` }]
      return [...twice(children), ...children.flatMap((child) => strictFaults(text, child, level + 1))]
    case 'property':
      return [...keyFaults(children[0]), ...children.slice(1).flatMap((child) => strictFaults(text, child, level))]
    case 'string':
      return isWellFormedText(String(node.value)) ? [] : [{ node, sentence: badText }]
    case 'number':
      if (!Number.isFinite(node.value)) return [{ node, sentence: 'This number is too large.' }]
      return isKeptInteger(text.slice(node.offset, node.offset + node.length))
        ? []
        : [{ node, sentence: 'This number would be rounded: write it as a text.' }]
    default:
      return []
  }
}

const badText = 'This text has a NUL or half of a character in it.'

const keyFaults = (key: Node | undefined): readonly FieldFault[] => {
  if (key === undefined) return []
  const name = String(key.value)
  if (name === '__proto__') return [{ node: key, sentence: 'No field can have this name.' }]
  return isWellFormedText(name) ? [] : [{ node: key, sentence: badText }]
}

/** Every property but the first of its name. */
const twice = (properties: readonly Node[]): readonly FieldFault[] => {
  const seen = new Set<unknown>()
  return properties.flatMap(({ type, children: [key] = [] }) => {
    if (type !== 'property' || key === undefined) return []
    if (seen.has(key.value)) return [{ node: key, sentence: 'This field stands here twice.' }]
    seen.add(key.value)
    return []
  })
}

import { type Break, type BreakKind, breaksOf, isTestPart, type Place } from './find-breaks.ts'
import { childrenOf, type Node, parse, partOf } from './syntax.ts'

/** One guard, broken in one way. */
export type Mutant = {
  readonly id: number
  readonly file: string
  readonly line: number
  /** The line, without the space around it. */
  readonly text: string
  readonly kind: BreakKind
  /** The code, and what becomes of it. */
  readonly change: string
  /** Decided once, when the module is loaded. */
  readonly isTopLevel: boolean
}

type Woven = { readonly code: string; readonly mutants: readonly Mutant[] }

/** The source with a switch wherever a guard could be broken. Numbers start at `firstId`. */
export const weave = async (source: string, file: string, firstId: number, switches: string): Promise<Woven> => {
  const mutants: Mutant[] = []
  const lines = source.split('\n')
  const isQuery = file.startsWith('db/')
  let code = ''
  let cursor = 0
  const copyTo = (end: number): void => {
    code += source.slice(cursor, end)
    cursor = Math.max(cursor, end)
  }
  const number = ({ kind, says }: Break, node: Node, isTopLevel: boolean): string => {
    const id = firstId + mutants.length
    const [start, end] = node.range
    const changed = source.slice(start, end).replaceAll(/\s+/g, ' ')
    const line = source.slice(0, start).split('\n').length
    mutants.push({
      id,
      file,
      line,
      text: lines[line - 1]?.trim() ?? '',
      kind,
      change: `${says}: ${changed}`,
      isTopLevel,
    })
    return String(id)
  }
  const visit = (node: Node, place: Place): void => {
    const breaks = breaksOf(node, place)
    copyTo(node.range[0])
    for (const found of breaks)
      code += found.before
        .replace('$,', '#,')
        .replace('$)', '#)')
        .replace('#', number(found, node, place.isTopLevel))
    const operator = breaks.find((found) => found.operator !== undefined)?.operator
    const isTopLevel = place.isTopLevel && !node.type.includes('Function')
    for (const { key, node: child } of childrenOf(node)) {
      if (key === 'right' && operator !== undefined) passOperator(node, operator)
      visit(child, {
        parent: node,
        grandparent: place.parent,
        key,
        isTest: isTestPart(node, key, place.isTest),
        isTopLevel,
        isQuery,
      })
    }
    copyTo(node.range[1])
    for (const { after } of breaks.toReversed()) code += after
  }
  /** Writes a comma for the operator, with whatever brackets stand around it. */
  const passOperator = (node: Node, operator: string): void => {
    const from = partOf(node, 'left')?.range[1] ?? cursor
    const at = source.indexOf(operator, from)
    copyTo(at)
    code += ','
    cursor = at + operator.length
  }
  const tree = await parse(source, file)
  for (const { key, node } of childrenOf(tree)) {
    visit(node, { parent: tree, grandparent: null, key, isTest: false, isTopLevel: true, isQuery })
  }
  copyTo(source.length)
  const names = '$bound, $broken, $no, $twice, $without, $yes'
  const orm = isQuery ? `import * as $orm from 'drizzle-orm'; ` : ''
  return { code: `import { ${names} } from '${switches}'; ${orm}${code}`, mutants }
}

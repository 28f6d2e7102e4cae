import { parsers } from 'prettier/plugins/typescript'

/** A node of the syntax tree (ESTree, as prettier reads TypeScript). */
export type Node = {
  readonly type: string
  readonly range: readonly [start: number, end: number]
  readonly [key: string]: unknown
}

export const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && 'range' in value

/** The tree of a file. */
export const parse = async (text: string, file: string): Promise<Node> => {
  // The parser reads only the name of the file; its type requires every option of a formatter.
  const options = { filepath: file } as Parameters<typeof parsers.typescript.parse>[1]
  const tree: unknown = await parsers.typescript.parse(text, options)
  if (!isNode(tree)) throw new TypeError(`${file} has no syntax tree`)
  return tree
}

/** Types are no code; the expressions inside `as`, `satisfies` and `!` are. */
const codeInTypes = new Set(['TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression'])
const isCode = ({ type }: Node): boolean =>
  (!type.startsWith('TS') || codeInTypes.has(type)) && type !== 'ImportDeclaration' && type !== 'ExportAllDeclaration'

type Child = { readonly key: string; readonly node: Node }

/** The parts of a node that are code, in the order of the text. */
export const childrenOf = (node: Node): readonly Child[] =>
  Object.entries(node)
    .flatMap(([key, value]): Child[] =>
      (Array.isArray(value) ? value : [value]).filter(isNode).map((child) => ({ key, node: child })),
    )
    .filter((child) => isCode(child.node) && child.key !== 'parent')
    .sort((a, b) => a.node.range[0] - b.node.range[0])

/** A part of a node by its name, or null. */
export const partOf = (node: Node, key: string): Node | null => {
  const value = node[key]
  return isNode(value) ? value : null
}

/** The parts of a node in a list, or an empty list. */
export const partsOf = (node: Node, key: string): readonly Node[] => {
  const value = node[key]
  return Array.isArray(value) ? value.filter(isNode) : []
}

/** The last name of the called function: `where` of `select().where(…)`; empty if it has no name. */
export const calledName = (node: Node): string => {
  if (node.type !== 'CallExpression') return ''
  const callee = partOf(node, 'callee')
  const named = callee?.type === 'MemberExpression' ? partOf(callee, 'property') : callee
  return typeof named?.['name'] === 'string' ? named['name'] : ''
}

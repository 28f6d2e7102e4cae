import { calledName, type Node, partOf, partsOf } from './syntax.ts'

export type BreakKind =
  'guard' | 'choice' | 'part' | 'answer' | 'bound' | 'where' | 'set' | 'call' | 'audit' | 'rule' | 'constant'

/** One way to break a guard: what is written before and after its code. `$` stands for the number of the break. */
export type Break = {
  readonly kind: BreakKind
  readonly says: string
  readonly before: string
  readonly after: string
  /** The text of an operator that a comma replaces. */
  readonly operator?: string
}

/** Where a node stands. */
export type Place = {
  readonly parent: Node
  readonly grandparent: Node | null
  readonly key: string
  /** Whether it decides at once what happens: the test of an `if`, or a part of one. */
  readonly isTest: boolean
  /** Runs once, when the module is loaded. */
  readonly isTopLevel: boolean
  readonly isQuery: boolean
}

const no = (kind: BreakKind, says: string): Break => ({ kind, says, before: '$no($,', after: ')' })
const yes = (kind: BreakKind, says: string): Break => ({ kind, says, before: '$yes($,', after: ')' })
const without = (kind: BreakKind, says: string): Break => ({ kind, says, before: '$without($,', after: ')' })

/** All ways to break this node. */
export const breaksOf = (node: Node, place: Place): readonly Break[] => {
  const found = [...testBreaks(node, place), ...answerBreaks(node, place), ...boundBreaks(node, place)]
  found.push(...statementBreaks(node), ...listBreaks(node, place), ...authorityBreaks(node, place))
  if (place.isQuery) found.push(...whereBreaks(node, place), ...setBreaks(place), ...boundOfQueryBreaks(node, place))
  return found
}

const isLogical = (node: Node): boolean =>
  node.type === 'LogicalExpression' && (node['operator'] === '&&' || node['operator'] === '||')

const isTestOf = (parent: Node, key: string): boolean =>
  key === 'test' && (parent.type === 'IfStatement' || parent.type === 'ConditionalExpression')

/** Whether a part of a node decides at once what happens, given whether the node does. */
export const isTestPart = (parent: Node, key: string, isTest: boolean): boolean =>
  isTestOf(parent, key) || (isTest && (isLogical(parent) || parent['operator'] === '!'))

const testBreaks = (node: Node, { parent, key, isTest }: Place): Break[] => {
  if (key === 'test' && parent.type === 'IfStatement') return [no('guard', 'never')]
  if (key === 'test' && parent.type === 'ConditionalExpression') return [no('choice', 'never'), yes('choice', 'always')]
  if (!isLogical(parent) || !(isTest || isDecision(parent))) return []
  if (isLogical(node) && node['operator'] === parent['operator']) return []
  return [parent['operator'] === '&&' ? yes('part', 'left out') : no('part', 'left out')]
}

/** Whether `a || b` is a decision. Otherwise it is a value with a default. */
const isDecision = (logical: Node): boolean =>
  ['left', 'right'].some((side) => {
    const part = partOf(logical, side)
    return isYesOrNo(part) || (part !== null && isLogical(part) && isDecision(part))
  })

const comparisons = new Set(['===', '!==', '<', '<=', '>', '>=', 'in', 'instanceof'])
const questionName =
  /^(?:is|has|same|may|can|owns|matches|does|was)(?![a-z])|Matches$|^(?:verify|timingSafeEqual|test|some|every|includes|startsWith|endsWith)$/

const isYesOrNo = (node: Node | null): boolean => {
  if (node === null) return false
  if (node.type === 'BinaryExpression') return comparisons.has(String(node['operator']))
  if (node.type === 'UnaryExpression') return node['operator'] === '!'
  if (node.type === 'AwaitExpression') return isYesOrNo(partOf(node, 'argument'))
  if (isLogical(node)) return isYesOrNo(partOf(node, 'left')) && isYesOrNo(partOf(node, 'right'))
  if (node.type === 'Identifier') return questionName.test(String(node['name']))
  return questionName.test(calledName(node))
}

/** Places where a yes or no becomes a value. */
const valuePlaces: Readonly<Record<string, readonly string[]>> = {
  ArrowFunctionExpression: ['body'],
  ReturnStatement: ['argument'],
  VariableDeclarator: ['init'],
  Property: ['value'],
  AssignmentExpression: ['right'],
}

const answerBreaks = (node: Node, { parent, key }: Place): Break[] => {
  if (!(valuePlaces[parent.type] ?? []).includes(key) || parent['shorthand'] === true) return []
  const isAnswer = isYesOrNo(node) && node.type !== 'Identifier'
  return isAnswer ? [yes('answer', 'always yes'), no('answer', 'always no')] : []
}

const boundBreaks = (node: Node, { parent, key }: Place): Break[] => {
  const operator = String(node['operator'])
  if (node.type !== 'BinaryExpression' || !['<', '<=', '>', '>='].includes(operator)) return []
  if (key === 'test' && parent.type === 'ForStatement') return []
  const says = operator.endsWith('=') ? operator.slice(0, 1) : `${operator}=`
  return [{ kind: 'bound', says, before: `$bound($,'${operator}',`, after: ')', operator }]
}

const statementBreaks = (node: Node): Break[] => {
  if (node.type !== 'ExpressionStatement') return []
  const expression = partOf(node, 'expression')
  const called = expression?.type === 'AwaitExpression' ? partOf(expression, 'argument') : expression
  if (called?.type !== 'CallExpression' || partOf(called, 'callee')?.type === 'Super') return []
  const owner = partOf(partOf(called, 'callee') ?? called, 'object')
  const ownerName = String((owner === null ? null : (partOf(owner, 'property') ?? owner))?.['name'])
  if (/^(observe|log|metrics)$/.test(ownerName)) return [] // logs and metrics guard nothing
  const isAudit =
    /^record(Event)?$/.test(calledName(called)) || (ownerName === 'audit' && calledName(called) === 'insert')
  const kind = isAudit ? 'audit' : 'call'
  return [{ kind, says: 'left out', before: '{if(!$broken($))', after: '\n}' }]
}

const isText = (node: Node): boolean => node.type === 'Literal' && typeof node['value'] === 'string'

/** Rules and names in lists at the top of a module, and its numbers. */
const listBreaks = (node: Node, { parent, key, isTopLevel }: Place): Break[] => {
  if (!isTopLevel) return []
  const isLiteral = isText(node)
  const isRule = node.type === 'ArrayExpression' || (isLiteral && partsOf(parent, 'elements').every(isText))
  const inList = isRule && parent.type === 'ArrayExpression' && partsOf(parent, 'elements').length > 1
  const inCall = parent.type === 'CallExpression' && key === 'arguments' && partsOf(parent, 'arguments').length > 1
  if (inList || (inCall && isLiteral)) {
    return [{ kind: 'rule', says: 'left out', before: '...($broken($)?[]:[', after: '])' }]
  }
  const isNumber = node.type === 'Literal' && typeof node['value'] === 'number' && node['value'] > 1
  const isNamed = parent.type === 'VariableDeclarator' || (parent.type === 'Property' && key === 'value')
  const isProduct = parent.type === 'BinaryExpression' && key === 'left'
  return isNumber && (isNamed || isProduct)
    ? [{ kind: 'constant', says: 'twice', before: '$twice($,', after: ')' }]
    : []
}

/** Pages act for a user through these. After so many arguments come the rule that must hold and the ticket of the form. */
const acting: ReadonlyMap<string, number> = new Map([
  ['as', 0],
  ['asOperator', 0],
])

const authorityBreaks = (node: Node, { parent, key }: Place): Break[] => {
  const isNamed = parent.type === 'Property' && key === 'value' && parent['shorthand'] !== true
  const name = isNamed ? String(partOf(parent, 'key')?.['name']) : ''
  const first = acting.get(calledName(parent))
  const isArgument = first !== undefined && partsOf(parent, 'arguments').indexOf(node) >= first
  return isArgument || ['may', 'ticket'].includes(name) ? [without('guard', 'left out')] : []
}

const isJoined = (node: Node): boolean => ['and', 'or'].includes(calledName(node))

const whereBreaks = (node: Node, { parent, key }: Place): Break[] => {
  if (key !== 'arguments' || node.type === 'SpreadElement') return []
  const isCondition = isJoined(parent) || (calledName(parent) === 'where' && !isJoined(node))
  return isCondition ? [without('where', 'left out')] : []
}

/** A column that an update sets, if it sets others too. */
const setBreaks = ({ parent, grandparent }: Place): Break[] => {
  const isChange = parent.type === 'ObjectExpression' && grandparent !== null && calledName(grandparent) === 'set'
  if (!isChange || partsOf(parent, 'properties').length < 2) return []
  return [{ kind: 'set', says: 'left out', before: '...($broken($)?{}:{', after: '})' }]
}

const opposite: Readonly<Record<string, string>> = { lt: 'lte', lte: 'lt', gt: 'gte', gte: 'gt' }

const boundOfQueryBreaks = (node: Node, { parent, key }: Place): Break[] => {
  const name = String(node['name'])
  const other = node.type === 'Identifier' && key === 'callee' ? opposite[name] : undefined
  if (other === undefined || parent.type !== 'CallExpression') return []
  return [{ kind: 'bound', says: other, before: `($broken($)?$orm.${other}:`, after: ')' }]
}

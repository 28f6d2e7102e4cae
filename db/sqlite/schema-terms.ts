/*
 * What SQLite's pragmas do not report stands in the SQL of a schema alone. It is compared word by word, without regard to
 * spaces, comments, quotes and case, which a later SQLite may write otherwise.
 */

const term =
  /--[^\n]*|\/\*[^]*?(?:\*\/|$)|'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*|\d[\w.]*|[^\s]/g

export const termsOf = (sql: string): readonly string[] =>
  (sql.match(term) ?? []).filter((found) => !/^(?:--|\/\*)/.test(found)).map(plain)

const plain = (found: string): string => {
  if (found.startsWith("'")) return found
  const quoted = /^(?:"([^]*)"|`([^]*)`|\[([^]*)\])$/.exec(found)
  return (quoted === null ? found : (quoted[1] ?? quoted[2] ?? quoted[3] ?? '')).toLowerCase()
}

/** The terms from an opening parenthesis to the one that closes it. */
const enclosed = (terms: readonly string[], start: number): readonly string[] => {
  let depth = 0
  for (let end = start; end < terms.length; end += 1) {
    if (terms[end] === '(') depth += 1
    if (terms[end] === ')' && --depth === 0) return terms.slice(start, end + 1)
  }
  return terms.slice(start)
}

/** The definitions of a table's columns and constraints. */
const definitionsOf = (sql: string): readonly (readonly string[])[] => {
  const terms = termsOf(sql)
  const body = enclosed(terms, terms.indexOf('(')).slice(1, -1)
  const definitions: string[][] = [[]]
  let depth = 0
  for (const found of body) {
    if (found === '(') depth += 1
    if (found === ')') depth -= 1
    if (found === ',' && depth === 0) definitions.push([])
    else definitions.at(-1)?.push(found)
  }
  return definitions
}

const lengths: Readonly<Record<string, number>> = {
  collate: 2,
  autoincrement: 1,
  conflict: 2,
  deferrable: 1,
  initially: 2,
}

/** What a table's SQL says beyond the pragmas: CHECK and generated expressions, collations, conflict and deferral clauses. */
export const looseTerms = (sql: string): readonly string[] =>
  definitionsOf(sql).flatMap((definition) => {
    const [first = ''] = definition
    const found: string[] = []
    for (let at = 0; at < definition.length; at += 1) {
      const word = definition[at] ?? ''
      if (word === 'check' && definition[at + 1] === '(') found.push(enclosed(definition, at + 1).join(' '))
      else if (word === 'as' && definition[at + 1] === '(') {
        found.push(`${first} as ${enclosed(definition, at + 1).join(' ')}`)
      } else if (at > 0 && Object.hasOwn(lengths, word)) {
        found.push(`${first} ${definition.slice(at, at + (lengths[word] ?? 1)).join(' ')}`)
      }
    }
    return found
  })

/** Which rows an index has, and of which expressions, where its columns have some: its SQL from there on. */
export const rowsOf = (sql: string): string => {
  const terms = termsOf(sql)
  const start = terms.indexOf('(')
  const columns = enclosed(terms, start)
  const hasExpression = columns.lastIndexOf('(') > 0
  return terms.slice(hasExpression ? start : start + columns.length).join(' ')
}

/**
 * A Markdown table that is printed line by line while it is measured. The first column is text, all others are numbers. Cells are
 * padded, so that it reads well in a terminal too.
 */
export const markdownTable = (columns: readonly string[]) => {
  const row = (cells: readonly string[]): string =>
    `| ${cells.map((cell, index) => (index === 0 ? cell.padEnd(columns[0]?.length ?? 0) : cell.padStart(columns[index]?.length ?? 0))).join(' | ')} |`
  return { head: `\n${row(columns)}\n|---|${'--:|'.repeat(columns.length - 1)}`, row }
}

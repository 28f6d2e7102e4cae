/**
 * A template with its holes filled. `{{name}}` is replaced by the text of that name. Where nothing but spaces and number signs stand
 * before it on a line of its own, each line of the text gets them too, and an empty text leaves no line.
 * @throws Error for a hole that has no value
 */
export const fill = (template: string, values: Readonly<Record<string, string>>): string =>
  template.replaceAll(
    /^([ \t#]*)\{\{(\w+)\}\}\n|\{\{(\w+)\}\}/gm,
    (_, before: string, line?: string, word?: string) => {
      const name = line ?? word ?? ''
      const value = values[name]
      if (value === undefined) throw new Error(`The template has a hole without a value: ${name}.`)
      if (line === undefined) return value
      return value === '' ? '' : value.replaceAll(/^/gm, before) + '\n'
    },
  )

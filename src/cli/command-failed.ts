/** The command was called rightly and could not do it, or found something wrong. One sentence per line, exit code 1. */
export class CommandFailed extends Error {
  constructor(readonly sentences: readonly string[]) {
    super(sentences.join(' '))
  }
}

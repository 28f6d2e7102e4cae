/** The command was called wrongly; the message says how it is meant. Exit code 2. */
export class UsageError extends Error {}

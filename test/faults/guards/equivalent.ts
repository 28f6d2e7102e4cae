/**
 * Breaks that change nothing anybody could see, each with the reason. The key is the file and the change, as a run prints
 * them; a line that has moved stays known.
 */
export const equivalent: Readonly<Record<string, string>> = {}

/**
 * Text to be read by somebody who decides: characters that show as nothing or turn the reading direction are written as
 * escapes of JSON, so that what is read is what is there. Plain spaces and line ends stay.
 */
export const visibleText = (text: string): string => text.replaceAll(unseen, escaped)

/** A value as JSON that is still the same JSON. */
export const visibleJson = (value: unknown): string => visibleText(JSON.stringify(value, null, 2) ?? '')

/**
 * Controls, formats, spaces of every kind, and what fonts leave out or draw as nothing. Plain spaces are left out here and not
 * afterwards: indented JSON is mostly spaces, and a call for each takes seconds.
 */
const unseen = /[[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]--[ \n]]/gv

/** Every UTF-16 code unit as JSON escapes it. */
const escaped = (character: string): string =>
  Array.from({ length: character.length }, (_, index) => character.charCodeAt(index))
    .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
    .join('')

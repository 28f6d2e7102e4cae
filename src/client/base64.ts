/** The longest list of arguments that every engine takes is longer than this. */
const pieceBytes = 0x8000

/** Base64 with the functions that browsers, Node and Bun share. */
export const base64Of = (bytes: Uint8Array): string => {
  let text = ''
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    text += String.fromCharCode(...bytes.subarray(at, at + pieceBytes))
  }
  return btoa(text)
}

/** @throws DOMException for a text that is not Base64 */
export const bytesOf = (base64: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))

/** What the header of an executable file or of a library says about the machine it is for. */

const elfMachines: Readonly<Record<number, string>> = { 62: 'x64', 183: 'arm64' }

const programInterpreter = 3
const arm64OfMachO = 0x0100_000c

/**
 * `linux x64 /lib64/ld-linux-x86-64.so.2`, with the loader if the file names one, or `darwin arm64`; null for anything else.
 * Only little-endian files of 64 bits are known (elf(5); mach-o/loader.h).
 */
export const machineOf = (bytes: Uint8Array): string | null => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (bytes.length < 64) return null
  if (view.getUint32(0, true) === 0xfeed_facf) return view.getUint32(4, true) === arm64OfMachO ? 'darwin arm64' : null
  if (view.getUint32(0) !== 0x7f45_4c46 || bytes[4] !== 2 || bytes[5] !== 1) return null
  const machine = elfMachines[view.getUint16(18, true)]
  if (machine === undefined) return null
  const table = Number(view.getBigUint64(32, true))
  const size = view.getUint16(54, true)
  for (let index = 0; index < view.getUint16(56, true); index += 1) {
    const at = table + index * size
    if (view.getUint32(at, true) !== programInterpreter) continue
    const from = Number(view.getBigUint64(at + 8, true))
    const length = Number(view.getBigUint64(at + 32, true))
    return `linux ${machine} ${new TextDecoder().decode(bytes.subarray(from, from + length - 1))}`
  }
  return `linux ${machine}`
}

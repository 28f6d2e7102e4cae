import { zipSync } from 'fflate'
import { crc32, deflateSync } from 'node:zlib'
import { artifactIntake } from '../artifacts/artifacts.ts'

/** Whether a picture has ink at a point. */
type Drawing = (x: number, y: number) => boolean

type DemoIcon = { readonly ground: readonly [red: number, green: number, blue: number]; readonly drawing: Drawing }

const side = 128

const isEnvelope: Drawing = (x, y) =>
  x >= 24 && x < 104 && y >= 38 && y < 90 && Math.abs(y - 38 - (40 - Math.abs(x - 64)) * 0.8) > 4
const isChart: Drawing = (x, y) =>
  y < 100 && ((x >= 28 && x < 44 && y >= 76) || (x >= 56 && x < 72 && y >= 52) || (x >= 84 && x < 100 && y >= 28))

export const demoIcons = {
  newsletter: { ground: [0x34, 0x51, 0xd1], drawing: isEnvelope },
  'shop-insights': { ground: [0x0f, 0x76, 0x4d], drawing: isChart },
} as const satisfies Readonly<Record<string, DemoIcon>>

/** The archive of an app in the demo: its icon, white on a ground, in a PNG of two colours. */
export const demoArchive = (icon: DemoIcon) => {
  const intake = artifactIntake()
  intake.take(zipSync({ 'icon.png': pngOf(icon) }, { mtime: new Date(1980, 0, 1) }))
  return { filename: 'app.zip', content: intake.finish(), sha256: null }
}

const pngOf = ({ ground, drawing }: DemoIcon): Uint8Array<ArrayBuffer> => {
  // One byte per pixel; each row has one before it that says "no filter".
  const rows = new Uint8Array(side * (side + 1)).map((_, at) => Number(drawing((at % (side + 1)) - 1, at / (side + 1))))
  const sides = [0, 0, 0, side, 0, 0, 0, side]
  const header = [...sides, 8, 3, 0, 0, 0]
  return new Uint8Array(
    Buffer.concat([
      Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
      chunk('IHDR', new Uint8Array(header)),
      chunk('PLTE', new Uint8Array([...ground, 255, 255, 255])),
      chunk('IDAT', deflateSync(rows)),
      chunk('IEND', new Uint8Array()),
    ]),
  )
}

const chunk = (name: string, data: Uint8Array): Buffer => {
  const content = Buffer.concat([Buffer.from(name, 'latin1'), data])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(content))
  return Buffer.concat([length, content, sum])
}

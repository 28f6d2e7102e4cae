const pieceBytes = 64 * 1024

/** A body that is handed over piece by piece, so that somebody can be told how far it is. */
export const uploadStream = (
  text: string,
  onUpload: (sentBytes: number, totalBytes: number) => void,
): RequestInit & { readonly duplex: 'half' } => {
  const bytes = new TextEncoder().encode(text)
  let sent = 0
  const body = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        const piece = bytes.subarray(sent, sent + pieceBytes)
        sent += piece.length
        onUpload(sent, bytes.length)
        if (piece.length > 0) controller.enqueue(piece)
        if (sent === bytes.length) controller.close()
      },
    },
    { highWaterMark: 0 },
  )
  return { body, duplex: 'half' } // without duplex, Node refuses a body that is a stream
}

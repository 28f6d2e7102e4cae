/**
 * A free port below the range that the system assigns. It must be known before the server starts, because the public URL
 * contains it.
 */
export const freePort = (): number => {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const port = 20_000 + Math.floor(Math.random() * 12_000)
    if (isFree(port)) return port
  }
  throw new Error('no port is free between 20000 and 32000')
}

const isFree = (port: number): boolean => {
  try {
    Bun.listen({ hostname: '127.0.0.1', port, socket: { data: () => undefined } }).stop(true)
    return true
  } catch {
    return false
  }
}

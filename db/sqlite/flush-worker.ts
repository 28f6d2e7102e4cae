import { closeSync, fdatasyncSync, openSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'

// Beside the thread that writes a large file inside SQLite: hands it to the disk bit by bit, so that the one sync at
// its end does not keep the disk from everybody else. The file must be known to nobody but this process, because
// closing it drops SQLite's locks on it.

const everyMs = 15

const flush = (file: string): void => {
  const descriptor = openSync(file, 'r+')
  try {
    fdatasyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

parentPort?.on('message', (file: string) => setInterval(() => flush(file), everyMs))

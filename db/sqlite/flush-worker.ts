import { closeSync, fdatasyncSync, openSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'

// Syncs a large file while another thread writes it inside SQLite, so that the one sync at its end does not keep other
// processes from the disk. Only this process may know the file, because closing it drops SQLite's locks on it.

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

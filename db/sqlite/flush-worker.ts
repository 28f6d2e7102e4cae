import { parentPort } from 'node:worker_threads'
import { syncFile } from './files.ts'

// Syncs a large file while another thread writes it inside SQLite, so that the one sync at its end does not keep other
// processes from the disk. No other process may have the file open, because closing it here drops SQLite's locks on it.

const everyMs = 15

parentPort?.on('message', (file: string) => setInterval(() => syncFile(file), everyMs))

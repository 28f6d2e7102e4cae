/**
 * Starts another thread on a module of this folder. In the compiled program all modules are one file at the root, and
 * those that start a thread lie beside it under their own path: the build names each of them as an entry point.
 */
export const startThread = (module: `${'backup' | 'checkpoint' | 'flush'}-worker.ts`): Worker =>
  new Worker(Bun.isStandaloneExecutable ? `./db/sqlite/${module}` : new URL(module, import.meta.url).href)

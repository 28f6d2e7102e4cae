import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { programAt } from './needs.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** A clock that a test sets under the running server, as an administrator or an empty battery does. The monotonic clock is not affected. */
export class SetClock {
  readonly #file = join(temporaryFolder(), 'clock')
  readonly env: Readonly<Record<string, string>>

  constructor() {
    this.set('+0')
    this.env = {
      LD_PRELOAD: programAt('faketime'),
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    }
  }

  /** Ahead or back by so much, such as `-1d`, or to one moment. */
  set(to: string): void {
    writeFileSync(this.#file, `${to}\n`)
  }
}

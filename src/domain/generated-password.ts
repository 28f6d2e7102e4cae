import { encodeBase62 } from './base62.ts'

/** Random bytes that a generated password needs. */
export const generatedPasswordBytes = 16

/** 128 random bits in 22 letters and digits: nothing to escape in a shell, nothing to guess. */
export const generatedPassword = (random: Uint8Array): string => encodeBase62(random, 22)

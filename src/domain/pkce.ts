import { hash } from 'node:crypto'
import { sameHash } from './secret.ts'

/** Exactly 43 base64url characters that encode 32 bytes: the last one has four bits only (RFC 7636 section 4.2). */
export const isCodeChallenge = (text: string): boolean => /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/.test(text)

/** 43 to 128 unreserved characters (RFC 7636 section 4.1). */
export const isCodeVerifier = (text: string): boolean => /^[A-Za-z0-9._~-]{43,128}$/.test(text)

/** The S256 challenge of a verifier (RFC 7636 section 4.2). */
export const challengeOf = (verifier: string): string => hash('sha256', verifier, 'base64url')

/** Whether the challenge was made from this verifier (RFC 7636 section 4.6). */
export const verifierMatches = (verifier: string, challenge: string): boolean =>
  isCodeVerifier(verifier) && sameHash(Buffer.from(challenge), Buffer.from(challengeOf(verifier)))

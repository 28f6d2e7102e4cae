import type { Claims } from '../../src/runtime/identity-provider.ts'

/** What an identity provider says about a person, with little in it unless it is stated. */
export const claimsOf = <T extends Partial<Claims> & Pick<Claims, 'subject'>>(stated: T): Claims & T => ({
  issuer: 'https://id.example',
  email: null,
  isEmailVerified: true,
  name: null,
  acr: null,
  askedAt: null,
  issuedAt: Date.now(),
  missed: null,
  ...stated,
})

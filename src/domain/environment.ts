/** A credential, a redirect URI and a grant belong to one environment; they never mix (contract section 2). */
export const environments = ['development', 'production'] as const
export type Environment = (typeof environments)[number]

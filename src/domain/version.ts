/** The life of a version (contract section 3). Content is immutable from `submitted` on. */
export const versionStatuses = ['draft', 'submitted', 'approved', 'active', 'superseded', 'rejected'] as const
export type VersionStatus = (typeof versionStatuses)[number]

/** Each step with the only status it may start from and the one it leads to. */
export const versionSteps = {
  submit: { from: 'draft', to: 'submitted' },
  withdraw: { from: 'submitted', to: 'draft' },
  approve: { from: 'submitted', to: 'approved' },
  reject: { from: 'submitted', to: 'rejected' },
  activate: { from: 'approved', to: 'active' },
} as const satisfies Record<string, { from: VersionStatus; to: VersionStatus }>

export type VersionStep = keyof typeof versionSteps

/** Only a version that was live before can become live again by a rollback. */
export const isProductionRollbackTarget = (status: VersionStatus): boolean => status === 'superseded'

/**
 * The largest manifest, as JSON in UTF-8. The 16 MiB of an upload are for its artifact: lists and reviews hold many manifests
 * whole, and a person has to read them.
 */
export const manifestLimitBytes = 256 * 1024

/** The largest upload (contract section 3), and the pieces in which it is stored. */
export const artifactLimits = { bytes: 10 * 1024 * 1024, chunkBytes: 256 * 1024 } as const

/** What the operator said of an install. */
export const installApprovals = ['pending', 'approved', 'rejected'] as const
export type InstallApproval = (typeof installApprovals)[number]
/** Whether an install is in use. */
export const installStates = ['active', 'inactive'] as const

/** An install of an app on a website or store: what the operator said, and whether it is in use. */
type InstallState = {
  readonly approval: InstallApproval
  readonly state: (typeof installStates)[number]
}

/** Each decision with the only state it may start from and the one it leads to. Approving makes active. */
export const installSteps = {
  approve: { from: { approval: 'pending', state: 'inactive' }, to: { approval: 'approved', state: 'active' } },
  reject: { from: { approval: 'pending', state: 'inactive' }, to: { approval: 'rejected', state: 'inactive' } },
  deactivate: { from: { approval: 'approved', state: 'active' }, to: { approval: 'approved', state: 'inactive' } },
} as const satisfies Record<string, { readonly from: InstallState; readonly to: InstallState }>

export type InstallStep = keyof typeof installSteps

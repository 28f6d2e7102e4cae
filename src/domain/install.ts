/** What the operator said of an install; withdrawn when its owner took it back before anybody had decided. */
export const installApprovals = ['pending', 'approved', 'rejected', 'withdrawn'] as const
export type InstallApproval = (typeof installApprovals)[number]
/** Whether an install is in use. */
export const installStates = ['active', 'inactive'] as const

/** Who decides on a new install: an operator, or nobody, and then it is approved at once. */
export const installApprovalRules = ['manual', 'automatic'] as const
export type InstallApprovalRule = (typeof installApprovalRules)[number]

/** An install of an app on a website or store: what the operator said, and whether it is in use. */
type InstallState = {
  readonly approval: InstallApproval
  readonly state: (typeof installStates)[number]
}

/** Each decision with the only state it may start from and the one it leads to. Approving makes active. */
export const installSteps = {
  approve: { from: { approval: 'pending', state: 'inactive' }, to: { approval: 'approved', state: 'active' } },
  reject: { from: { approval: 'pending', state: 'inactive' }, to: { approval: 'rejected', state: 'inactive' } },
  withdraw: { from: { approval: 'pending', state: 'inactive' }, to: { approval: 'withdrawn', state: 'inactive' } },
  deactivate: { from: { approval: 'approved', state: 'active' }, to: { approval: 'approved', state: 'inactive' } },
} as const satisfies Record<string, { readonly from: InstallState; readonly to: InstallState }>

export type InstallStep = keyof typeof installSteps
/** What an operator may do; to withdraw is the owner's. */
export type OperatorStep = Exclude<InstallStep, 'withdraw'>

/** Whether an install lets its app do anything. */
export const isInstallLive = ({ approval, state }: InstallState): boolean =>
  approval === 'approved' && state === 'active'

/** How its owner ends it: back while nobody has decided, off once it is in use. */
export type EndingStep = Extract<InstallStep, 'withdraw' | 'deactivate'>

/** The step that ends it in the state that it is in; null when it is over. */
export const endingStep = ({ approval, state }: InstallState): EndingStep | null => {
  if (approval === 'pending') return 'withdraw'
  return state === 'active' ? 'deactivate' : null
}

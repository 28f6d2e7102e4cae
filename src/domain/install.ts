import type { Environment } from './app.ts'
import { type ResourceKind, resourceKinds } from './resource.ts'

/** The operator's decision about an install; withdrawn when its owner cancelled it before a decision. */
export const installApprovals = ['pending', 'approved', 'rejected', 'withdrawn'] as const
export type InstallApproval = (typeof installApprovals)[number]
/** Whether an install is in use. */
export const installStates = ['active', 'inactive'] as const

/** Whether an operator decides about a new install, or it is approved at once. */
export const installApprovalRules = ['manual', 'automatic'] as const
export type InstallApprovalRule = (typeof installApprovalRules)[number]

/** Developers test on websites and stores of their own, with tokens of development only, so no operator has to decide about that. */
export const isApprovedAtOnce = (rule: InstallApprovalRule, environment: Environment): boolean =>
  rule === 'automatic' || environment === 'development'

/**
 * The environment whose installs do not serve this one; empty if there is none. An install of the live version serves both, so that
 * developers can try what users have; a test serves only development.
 */
export const notServing = (environment: Environment): Environment | '' =>
  environment === 'production' ? 'development' : ''

/** What an app with these scopes is for: websites, stores, or both if it asks for something of both or of neither. */
export const resourceKindsFor = (scopes: readonly string[]): readonly ResourceKind[] => {
  const named = resourceKinds.filter((kind) => scopes.some((scope) => /^[a-z]+/.exec(scope)?.[0] === kind))
  return named.length === 0 ? resourceKinds : named
}

/** An install of an app on a website or store: the operator's decision, and whether it is in use. */
type InstallState = {
  readonly approval: InstallApproval
  readonly state: (typeof installStates)[number]
}

/** Each step with the only state it may start from and the one it leads to. Approval activates. */
export const installSteps = {
  approve: { from: { approval: 'pending', state: 'inactive' }, to: { approval: 'approved', state: 'active' } },
  reject: { from: { approval: 'pending', state: 'inactive' }, to: { approval: 'rejected', state: 'inactive' } },
  withdraw: { from: { approval: 'pending', state: 'inactive' }, to: { approval: 'withdrawn', state: 'inactive' } },
  deactivate: { from: { approval: 'approved', state: 'active' }, to: { approval: 'approved', state: 'inactive' } },
} as const satisfies Record<string, { readonly from: InstallState; readonly to: InstallState }>

export type InstallStep = keyof typeof installSteps
/** The steps of an operator. Only the owner withdraws. */
export type OperatorStep = Exclude<InstallStep, 'withdraw'>

/** Whether the app of an install has access. */
export const isInstallLive = ({ approval, state }: InstallState): boolean =>
  approval === 'approved' && state === 'active'

/** The steps by which its owner ends an install: withdraw before the decision, deactivate after it. */
export type EndingStep = Extract<InstallStep, 'withdraw' | 'deactivate'>

/** The step that ends an install in this state; null when it has ended. */
export const endingStep = ({ approval, state }: InstallState): EndingStep | null => {
  if (approval === 'pending') return 'withdraw'
  return state === 'active' ? 'deactivate' : null
}

/** The page of an app in the directory. */
export const listedAppPath = <Slug extends string>(slug: Slug) => `/apps/${slug}` as const
/** Where a user installs an app: its live version, or the version that its developers test. */
export const installLivePath = <Slug extends string>(slug: Slug) => `/apps/${slug}/install` as const
export const installTestPath = <Slug extends string>(slug: Slug) => `/apps/${slug}/test` as const
export const installPath = (slug: string, environment: Environment): string =>
  environment === 'production' ? installLivePath(slug) : installTestPath(slug)

import type { AppCreators } from './app.ts'
import type { InstallApprovalRule } from './install.ts'
import type { Lifetimes } from './lifetimes.ts'
import type { AuditRetention, Quotas } from './limits.ts'
import { pick } from './pick.ts'
import type { SignInRules } from './sign-in-rules.ts'

/** The settings that operations decide by, named as a configuration names them. */
export type DecidingSettings = {
  readonly lifetimes: Lifetimes
  /** How people sign in. */
  readonly signIn: SignInRules
  /** Who may create apps in the console. On the desk and on the command line operators always may. */
  readonly appCreation: AppCreators
  /** Who approves a new install. */
  readonly installApproval: InstallApprovalRule
  /** The name of this platform on its pages. */
  readonly platformName: string
  /** The website builder that people come from, for links back to it; null if none is set. */
  readonly builder: { readonly name: string; readonly url: string } | null
  readonly quotas: Quotas
  readonly auditRetention: AuditRetention
}

/** What operations decide by, without what else a configuration has, such as secrets. */
export const decidingSettings = (config: DecidingSettings): DecidingSettings =>
  pick(
    config,
    'lifetimes',
    'signIn',
    'appCreation',
    'installApproval',
    'platformName',
    'builder',
    'quotas',
    'auditRetention',
  )

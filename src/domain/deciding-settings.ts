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

/** A setting of the running server, as operators see it. */
export type SettingFact = {
  readonly name: string
  /** As it was given; null for the default. A secret is only said to be set. */
  readonly value: string | null
  readonly origin: 'flag' | 'environment' | 'file' | 'default'
  /** The flag, the variable, or the variable that names the file; null for the default. */
  readonly from: string | null
  /** In the words of the setting; null if there is none. */
  readonly usual: string | null
}

/** A value of a setting in the words in which it is given; null for none. */
export const settingInWords = (value: unknown): string | null => {
  if (value === null || value === '' || (Array.isArray(value) && value.length === 0)) return null
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  if (Array.isArray(value)) return value.map(settingInWords).join(',')
  if (typeof value !== 'object') return String(value)
  if ('count' in value && 'seconds' in value) return `${String(value.count)}/${String(value.seconds)}`
  return 'path' in value ? `file:${String(value.path)}` : null
}

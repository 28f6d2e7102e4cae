import { createHash } from 'node:crypto'
import type { DecidingSettings } from '../domain/deciding-settings.ts'
import type { IpNetwork } from '../domain/ip-address.ts'
import type { MailSettings } from '../domain/mail.ts'
import type { RateLimits } from '../domain/limits.ts'

type Settings = DecidingSettings & {
  readonly publicUrl: string | null
  readonly port: number
  readonly identityProvider: {
    readonly issuer: string
    readonly clientId: string
    readonly clientAuth: string | null
    readonly trustsEmail: boolean
  } | null
  readonly mail: MailSettings | null
  readonly webhookNetworks: readonly IpNetwork[]
  readonly rateLimits: RateLimits | null
}

/**
 * The settings that all servers on one database must share, with a digest of each value: clients see the same issuer, lifetimes
 * and limits wherever they are served. All others, such as addresses and logs, may differ from machine to machine.
 */
export const sharedSettings = (config: Settings): Readonly<Record<string, string>> => {
  const { publicUrl, port, lifetimes, rateLimits, quotas, auditRetention } = config
  const values: Readonly<Record<string, unknown>> = {
    PUBLIC_URL: publicUrl ?? port, // each server would name its own port
    PLATFORM_NAME: config.platformName,
    BUILDER_NAME: config.builder?.name ?? null,
    BUILDER_URL: config.builder?.url ?? null,
    SIGN_IN: config.signIn.ways,
    SIGN_IN_URL: config.signIn.handoverUrl,
    SIGN_OUT_URL: config.signIn.signOutUrl,
    PASSWORD_FOR: config.signIn.passwordFor,
    OIDC_NAME: config.signIn.providerName,
    OIDC_CREATE_USERS: config.signIn.createsUsers,
    OIDC_LINK_BY_EMAIL: config.signIn.linksByEmail,
    REQUIRE_SECOND_FACTOR: config.signIn.secondFactorFor,
    STRONG_SIGN_IN: config.signIn.strongWays,
    OIDC_STRONG_ACR: config.signIn.strongAcr,
    OIDC_ISSUER: config.identityProvider?.issuer ?? null,
    OIDC_CLIENT_ID: config.identityProvider?.clientId ?? null,
    OIDC_CLIENT_AUTH: config.identityProvider?.clientAuth ?? null,
    OIDC_TRUST_EMAIL: config.identityProvider?.trustsEmail ?? false,
    OIDC_PROOF: config.signIn.providerProof,
    APP_CREATION: config.appCreation,
    INSTALL_APPROVAL: config.installApproval,
    MAIL_FROM: config.mail?.from ?? null,
    WEBHOOK_ALLOWED_NETWORKS: config.webhookNetworks,
    LIFETIME_CODE: lifetimes.code,
    LIFETIME_APP_TOKEN: lifetimes.appToken,
    LIFETIME_ACCESS_TOKEN: lifetimes.accessToken,
    LIFETIME_REFRESH_TOKEN: lifetimes.refreshToken,
    LIFETIME_REFRESH_RETRY: lifetimes.refreshRetry,
    LIFETIME_GRANT: lifetimes.grant,
    LIFETIME_SESSION: lifetimes.session,
    LIFETIME_SESSION_IDLE: lifetimes.sessionIdle,
    LIFETIME_INSTALL_SESSION_CODE: lifetimes.installSessionCode,
    LIFETIME_EMBEDDED_SESSION: lifetimes.embeddedSession,
    RATE_LIMIT: rateLimits !== null,
    RATE_LIMIT_TOKEN: rateLimits?.token,
    RATE_LIMIT_FAILED: rateLimits?.failed,
    RATE_LIMIT_AUTHORIZE: rateLimits?.authorize,
    RATE_LIMIT_READ: rateLimits?.read,
    RATE_LIMIT_WRITE: rateLimits?.write,
    RATE_LIMIT_DAILY: rateLimits?.daily,
    RATE_LIMIT_MANAGEMENT: rateLimits?.management,
    RATE_LIMIT_SIGN_IN: rateLimits?.sign_in,
    RATE_LIMIT_CODE: rateLimits?.code,
    RATE_LIMIT_ADDRESS: rateLimits?.address,
    QUOTA_APPS: quotas.apps,
    QUOTA_ARTIFACT_BYTES: quotas.artifactBytes,
    QUOTA_VERSIONS: quotas.versions,
    AUDIT_RETENTION_DAYS: auditRetention.days,
    AUDIT_RETENTION_ANONYMOUS_DAYS: auditRetention.anonymousDays,
  }
  const given = Object.entries(values).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given.map(([name, value]) => [name, digest(JSON.stringify(value))]))
}

/** Long enough to tell values apart. */
const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12)

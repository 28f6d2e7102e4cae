import { appTokenQueries } from './app-tokens.ts'
import { appQueries } from './apps.ts'
import { artifactQueries } from './artifacts.ts'
import { auditQueries } from './audit.ts'
import type { Connection } from './connection.ts'
import { credentialQueries } from './credentials.ts'
import { grantQueries } from './grants.ts'
import { idempotencyQueries } from './idempotency.ts'
import { installQueries } from './installs.ts'
import { redirectUriQueries } from './redirect-uris.ts'
import { resourceQueries } from './resources.ts'
import { rollbackQueries } from './rollbacks.ts'
import { sessionQueries } from './sessions.ts'
import { userQueries } from './users.ts'
import { versionQueries } from './versions.ts'
import { watermarkQueries } from './watermarks.ts'

/** Every question and every write of the platform, over one connection. */
export const createQueries = (db: Connection) => ({
  appTokens: appTokenQueries(db),
  apps: appQueries(db),
  artifacts: artifactQueries(db),
  audit: auditQueries(db),
  credentials: credentialQueries(db),
  grants: grantQueries(db),
  idempotency: idempotencyQueries(db),
  installs: installQueries(db),
  redirectUris: redirectUriQueries(db),
  resources: resourceQueries(db),
  rollbacks: rollbackQueries(db),
  sessions: sessionQueries(db),
  users: userQueries(db),
  versions: versionQueries(db),
  watermarks: watermarkQueries(db),
})

export type Queries = ReturnType<typeof createQueries>

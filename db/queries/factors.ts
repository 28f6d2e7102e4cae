import { and, asc, eq, inArray, isNull, lt, or, sql } from 'drizzle-orm'
import type { SecretHash } from '../../src/domain/secret.ts'
import { passkeys, recoveryCodes, totpKeys } from '../tables/sqlite.ts'
import { changeOne } from './changes.ts'
import { type DrizzleConnection, only } from './connection.ts'
import { inserter } from './rows.ts'

export type TotpKey = typeof totpKeys.$inferSelect
export type Passkey = typeof passkeys.$inferSelect
export type RecoveryCode = typeof recoveryCodes.$inferSelect

const liveKey = (userId: string) => and(eq(totpKeys.userId, userId), isNull(totpKeys.endedAt))
const livePasskeys = (userId: string) => and(eq(passkeys.userId, userId), isNull(passkeys.endedAt))
const liveCodes = (userId: string) => and(eq(recoveryCodes.userId, userId), isNull(recoveryCodes.endedAt))

/** Authenticator apps, of which a user has at most one. */
export const totpKeyQueries = (db: DrizzleConnection) => {
  return {
    insert: inserter(db, totpKeys),
    /** The one that works; null without one. */
    ofUser: async (userId: string): Promise<TotpKey | null> =>
      only(await db.select().from(totpKeys).where(liveKey(userId))),
    /** Uses the code of a step up, with those of earlier steps. True for exactly one of any number of racing calls. */
    use: async (id: string, step: number, now: number) =>
      await changeOne(
        db,
        totpKeys,
        { lastStep: step, lastUsedAt: now },
        eq(totpKeys.id, id),
        isNull(totpKeys.endedAt),
        lt(totpKeys.lastStep, step),
      ),
    /** Ends the one that works, and forgets its key. False if there is none. */
    end: async (userId: string, now: number) =>
      (
        await db
          .update(totpKeys)
          .set({ endedAt: now, key: new Uint8Array(0) })
          .where(liveKey(userId))
          .returning({ id: totpKeys.id })
      ).length === 1,
  }
}

/** Passkeys, of which a user can have several. */
export const passkeyQueries = (db: DrizzleConnection) => {
  return {
    insert: inserter(db, passkeys),
    /** Those that work, the oldest first. */
    ofUser: async (userId: string): Promise<Passkey[]> =>
      await db.select().from(passkeys).where(livePasskeys(userId)).orderBy(asc(passkeys.id)),
    /** How many of the user work. */
    countOfUser: async (userId: string) => await db.$count(passkeys, livePasskeys(userId)),
    /** The one that works; null without one. */
    byCredentialId: async (credentialId: string): Promise<Passkey | null> =>
      only(
        await db
          .select()
          .from(passkeys)
          .where(and(eq(passkeys.credentialId, credentialId), isNull(passkeys.endedAt))),
      ),
    /**
     * Uses the challenge of this time up, with all earlier ones. True for exactly one of any number of racing calls; false if the
     * authenticator has not counted upwards.
     */
    use: async (id: string, used: Pick<Passkey, 'counter' | 'challengeAt'>, now: number) =>
      await changeOne(
        db,
        passkeys,
        { ...used, lastUsedAt: now },
        eq(passkeys.id, id),
        isNull(passkeys.endedAt),
        lt(passkeys.challengeAt, used.challengeAt),
        or(lt(passkeys.counter, used.counter), sql`${passkeys.counter} = 0 and ${used.counter} = 0`) ?? sql`false`,
      ),
    /** Ends one of the user. False if it does not work any more. */
    end: async (userId: string, id: string, now: number) =>
      await changeOne(
        db,
        passkeys,
        { endedAt: now },
        eq(passkeys.id, id),
        eq(passkeys.userId, userId),
        isNull(passkeys.endedAt),
      ),
    endAll: async (userId: string, now: number) =>
      void (await db.update(passkeys).set({ endedAt: now }).where(livePasskeys(userId))),
  }
}

/** Recovery codes. */
export const recoveryCodeQueries = (db: DrizzleConnection) => {
  return {
    insertAll: async (rows: readonly RecoveryCode[]) => void (await db.insert(recoveryCodes).values([...rows])),
    /** How many of the user work. */
    countOfUser: async (userId: string) => await db.$count(recoveryCodes, liveCodes(userId)),
    /** Uses a code up. True for exactly one of any number of racing calls. */
    use: async (userId: string, hash: SecretHash, now: number) => {
      const found = db
        .select({ id: recoveryCodes.id })
        .from(recoveryCodes)
        .where(and(liveCodes(userId), eq(recoveryCodes.hash, hash)))
      const used = await db
        .update(recoveryCodes)
        .set({ endedAt: now })
        .where(and(inArray(recoveryCodes.id, found), isNull(recoveryCodes.endedAt)))
        .returning({ changed: sql`1` })
      return used.length === 1
    },
    /** Ends those that work. */
    endAll: async (userId: string, now: number) =>
      void (await db.update(recoveryCodes).set({ endedAt: now }).where(liveCodes(userId))),
  }
}

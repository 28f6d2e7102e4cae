import type { AuditEvent, Database, Queries } from '../../db/database.ts'

type Tell = (what: string) => void

/** An aggregate query returns a row even if nothing was found. */
const alwaysOneRow = 'idOfClient' satisfies keyof Queries['apps']

/**
 * A store that records each transaction, whether each query and write found anything (+) or not (−), and whether the
 * indexes of apps contain each audit event.
 */
export const watchStore = (database: Database, tell: Tell): Database =>
  new Proxy(database, {
    get: (store, name) => {
      if (name === 'queries') return watch(store.queries, tell)
      return name === 'transaction' ? watchTransaction(store, tell) : Reflect.get(store, name).bind(store)
    },
  })

const watchTransaction =
  (database: Database, tell: Tell): Database['transaction'] =>
  async (work) => {
    tell('transaction')
    return await database.transaction(async (q) => await work(watch(q, tell)))
  }

const watch = (queries: Queries, tell: Tell): Queries =>
  new Proxy(queries, {
    get: (all, group) => {
      const those: object = Reflect.get(all, group)
      return group === 'audit' ? watchAudit(queries, tell) : watchGroup(those, String(group), tell)
    },
  })

const watchGroup = (those: object, group: string, tell: Tell) =>
  new Proxy(those, {
    get:
      (from, name) =>
      async (...given: readonly unknown[]) => {
        const answer: unknown = await Reflect.get(from, name)(...given)
        tell(`${group}.${String(name)} ${answer === null && name !== alwaysOneRow ? '−' : '+'}`)
        return answer
      },
  })

const watchAudit = ({ audit }: Queries, tell: Tell) => ({
  ...audit,
  insert: async (event: AuditEvent) => {
    tell(`audit.insert, ${event.appId === null ? 'of no app' : 'in the indexes of apps'}`)
    await audit.insert(event)
  },
})

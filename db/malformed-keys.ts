import { highestRowKey, rowKeyLength } from '../src/domain/identifier.ts'

const timeKeyed = ['app_tokens', 'grants', 'token_pairs', 'authorization_codes']
const textKeyed = ['sessions', 'form_tickets', 'install_session_codes', 'embedded_sessions']

/**
 * Asks for each table how many of its keys are malformed: an engine accepts any text or integer as a key, but the audit cannot tell the
 * time of such a row. Reads the key of every row. `hasOtherSigns`: whether a text has others than letters and digits, for this engine.
 */
export const malformedKeys = (hasOtherSigns: string): readonly { readonly table: string; readonly text: string }[] => {
  const ofTimes = `key NOT BETWEEN 0 AND ${Number.MAX_SAFE_INTEGER}`
  const ofTexts = `length(key) <> ${rowKeyLength} OR ${hasOtherSigns} OR key > '${highestRowKey}'`
  return [...timeKeyed, ...textKeyed].map((table) => ({
    table,
    text: `SELECT count(*) FROM ${table} WHERE ${timeKeyed.includes(table) ? ofTimes : ofTexts}`,
  }))
}

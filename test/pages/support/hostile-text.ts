import { askBeside } from '../../support/beside.ts'
import { onPostgres } from '../../support/postgres.ts'

/** Reverses the reading direction until the text ends. It must not affect the page's own words after it. */
const rightToLeft = '\u202e'

/** 200 characters that break out of tags and attributes, turn the reading direction and offer no place to break the line. */
export const hostileText =
  `<script>alert(1)</script>"'><img src=/stolen onerror=alert(2)>&amp;\`\${1}${rightToLeft}gpj.exe 😀é👨‍👩‍👧`.padEnd(
    200,
    'W',
  )

/** `?` is the text. JSON is written otherwise on each engine. */
const manifest = onPostgres
  ? `json_build_object(?::text, ?::text, 'list', json_build_array(?::text, json_build_object(?::text, 1)), 'number', number, 'embedUrl', manifest::json ->> 'embedUrl')::text`
  : `json_object(?, ?, 'list', json_array(?, json_object(?, 1)), 'number', number, 'embedUrl', manifest ->> 'embedUrl')`
const rejection = onPostgres
  ? `json_build_object('message', ?::text, 'items', json_build_array(json_build_object('path', ?::text, 'message', ?::text)))::text`
  : `json_object('message', ?, 'items', json_array(json_object('path', ?, 'message', ?)))`

const statements = [
  'UPDATE users SET name = ?',
  'UPDATE apps SET name = ?',
  'UPDATE credentials SET label = ?',
  'UPDATE resources SET name = ?',
  'UPDATE sessions SET agent = ?',
  'UPDATE rollbacks SET reason = ?',
  `UPDATE versions SET notes = ${onPostgres ? '?::text || chr(10) || ?::text' : '? || char(10) || ?'}, manifest = ${manifest}`,
  'UPDATE versions SET artifact_filename = ? WHERE artifact_filename IS NOT NULL',
  `UPDATE versions SET rejection = ${rejection} WHERE rejection IS NOT NULL`,
]

/**
 * Writes the hostile text directly into the database, wherever it stores text that people chose, even where the program would
 * not take it today, since rows outlive rules.
 */
export const makeHostile = async (database: string): Promise<void> => {
  for (const statement of statements) {
    const places = statement.split('?').length - 1
    await askBeside(database, statement, ...Array.from({ length: places }, () => hostileText))
  }
}

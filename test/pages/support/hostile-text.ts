import { Database } from 'bun:sqlite'

/** Reverses the reading direction until the text ends. It must not affect the page's own words after it. */
const rightToLeft = '\u202e'

/** 200 characters that break out of tags and attributes, turn the reading direction and offer no place to break the line. */
export const hostileText =
  `<script>alert(1)</script>"'><img src=/stolen onerror=alert(2)>&amp;\`\${1}${rightToLeft}gpj.exe 😀é👨‍👩‍👧`.padEnd(
    200,
    'W',
  )

const statements = [
  'UPDATE users SET name = $text',
  'UPDATE apps SET name = $text',
  'UPDATE credentials SET label = $text',
  'UPDATE resources SET name = $text',
  'UPDATE sessions SET agent = $text',
  'UPDATE rollbacks SET reason = $text',
  `UPDATE versions SET notes = $text || char(10) || $text,
     manifest = json_object($text, $text, 'list', json_array($text, json_object($text, 1)), 'number', number, 'embedUrl', manifest ->> 'embedUrl')`,
  'UPDATE versions SET artifact_filename = $text WHERE artifact_filename IS NOT NULL',
  `UPDATE versions SET rejection = json_object('message', $text, 'items', json_array(json_object('path', $text, 'message', $text)))
     WHERE rejection IS NOT NULL`,
]

/**
 * Writes the hostile text directly into the database, wherever it stores text that people chose, even where the program would
 * not take it today, since rows outlive rules.
 */
export const makeHostile = (file: string): void => {
  const database = new Database(file, { readwrite: true, create: false })
  try {
    database.run('PRAGMA busy_timeout = 5000')
    for (const statement of statements)
      database.prepare<unknown, { $text: string }>(statement).run({ $text: hostileText })
  } finally {
    database.close()
  }
}

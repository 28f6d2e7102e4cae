import { type AnyColumn, type SQL, sql } from 'drizzle-orm'

/**
 * Whether a text has this part, letters of ASCII in either case. What stands for other characters in a pattern stands
 * for itself here.
 */
export const contains = (column: AnyColumn | SQL.Aliased, part: string): SQL =>
  sql`lower(${column}) LIKE lower(${`%${part.replaceAll(/[\\%_]/g, '\\$&')}%`}) ESCAPE '\\'`

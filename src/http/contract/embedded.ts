import { Type } from '@sinclair/typebox'

/** What the page of an app in a frame exchanges for its session. */
export const embeddedSessionRequest = Type.Object({
  clientId: Type.String({ minLength: 1 }),
  code: Type.String({ minLength: 1 }),
})

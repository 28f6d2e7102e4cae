import type { Door } from '../../http/door.ts'
import { noticeOf as oneOf } from '../notice.ts'

const notices = {
  app: 'Your app is registered. The list below leads to its first call.',
  name: 'The app has its new name.',
  scopes: 'The scopes are saved.',
  'uri-added': 'The redirect URI is registered and works from now on.',
  'uri-removed': 'The redirect URI is removed and refused from now on.',
  revoked: 'The secret is revoked. It and the app tokens that it minted have stopped working.',
  submitted: 'The version is submitted. An operator reviews it next.',
  withdrawn: 'The version is withdrawn and a draft again.',
} as const

/** What a form of the console has just done; null after anything else. */
export const noticeOf = (door: Door, request: Request): string | null => oneOf(door, request, notices)

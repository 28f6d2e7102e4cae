import type { IconType } from '../domain/app-icon.ts'

/**
 * The file of an icon. Its bytes come from a developer: a browser never takes them for anything but this image, and they can load and
 * run nothing. The address of a public one has the hash of the content, so it can be kept for ever, and other sites may show it.
 */
export const iconAnswer = (
  { type, bytes }: { readonly type: IconType; readonly bytes: Uint8Array<ArrayBuffer> },
  readers: 'everybody' | 'operators',
): Response =>
  new Response(bytes, {
    headers: {
      'content-type': type,
      'content-security-policy': "sandbox; default-src 'none'",
      'cross-origin-resource-policy': readers === 'everybody' ? 'cross-origin' : 'same-origin',
      'cache-control': readers === 'everybody' ? 'public, max-age=31536000, immutable' : 'no-store',
    },
  })

import type { Routes } from './change.tsx'
import { hash } from 'node:crypto'
import { staticFile } from '../http/packed.ts'
import embed from './assets/embed.js' with { type: 'text' }
import icon from './assets/favicon.svg' with { type: 'text' }
import passkey from './assets/passkey.js' with { type: 'text' }
import stylesheet from './assets/site.css' with { type: 'text' }
import script from './assets/site.js' with { type: 'text' }
import upload from './assets/upload.js' with { type: 'text' }
import type { IconType } from '../domain/app-icon.ts'

/** A file whose name changes with its content, so that browsers can cache it forever. */
type Asset = { readonly path: string; readonly text: string; readonly type: string }

const asset = (stem: string, ending: string, type: string, text: string): Asset => ({
  path: `/assets/${stem}.${hash('sha256', text).slice(0, 12)}.${ending}`,
  text,
  type,
})

export const siteStylesheet = asset('site', 'css', 'text/css; charset=utf-8', stylesheet)
export const favicon = asset('favicon', 'svg', 'image/svg+xml', icon)
/** Small conveniences. Every page works without this script. */
export const siteScript = asset('site', 'js', 'text/javascript; charset=utf-8', script)

/** Renews the session of an app in a frame, on the page that has one. */
export const embedScript = asset('embed', 'js', 'text/javascript; charset=utf-8', embed)

/** Shows how far an upload is, on the pages that have one. */
export const uploadScript = asset('upload', 'js', 'text/javascript; charset=utf-8', upload)

/** Asks the browser for a passkey, on the pages that take one. */
export const passkeyScript = asset('passkey', 'js', 'text/javascript; charset=utf-8', passkey)

const assets = [siteStylesheet, favicon, siteScript, embedScript, uploadScript, passkeyScript]

/** The stylesheet, the icon and the scripts, embedded in the program. */
export const assetRoutes: Routes = (app) => {
  for (const { path, text, type } of assets) {
    const answer = staticFile(async () => new TextEncoder().encode(text), type, 'public, max-age=31536000, immutable')
    app.get(path, async ({ request }) => await answer(request))
  }
}

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

/** Four browsers that cover every pair of settings: `test.each(browserKinds)` runs a flow in all of them. */
export const browserKinds = [
  { kind: 'JavaScript, desktop, light', javaScript: true, width: 'desktop', theme: 'light' },
  { kind: 'JavaScript, phone, dark', javaScript: true, width: 'phone', theme: 'dark' },
  { kind: 'no JavaScript, phone, light', javaScript: false, width: 'phone', theme: 'light' },
  { kind: 'no JavaScript, desktop, dark', javaScript: false, width: 'desktop', theme: 'dark' },
] as const

/**
 * Two browsers that differ in every setting: `test.each(browserKinds)` runs a flow in both. The walk of the whole site looks at the
 * pages in the other combinations.
 */
export const browserKinds = [
  { kind: 'JavaScript, desktop, light', javaScript: true, width: 'desktop', theme: 'light' },
  { kind: 'no JavaScript, phone, dark', javaScript: false, width: 'phone', theme: 'dark' },
] as const

/** Takes the place of the DOM types that preact's types refer to: pages are rendered on the server, which has no DOM. */
export type NoDom = never

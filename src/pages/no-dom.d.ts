/** Stands where preact's types ask for those of the DOM: pages are made on the server. */
export type NoDom = never

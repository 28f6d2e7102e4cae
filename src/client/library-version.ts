/** The version of the package, which is that of the program. */
export const libraryVersion = '0.2.0'

/** The User-Agent of every request, except in a browser, which sends its own. */
export const libraryAgent = `app-platform-client/${libraryVersion}`

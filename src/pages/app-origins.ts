/**
 * Where a form may lead to that ends at an app. Chromium and WebKit hold every redirect after a form to `form-action`: the one to
 * the redirect URI, and all by which the app then leads people on, to hosts that only it knows. Naming the first alone would
 * strand them here with the code spent, and keep nothing out: whoever could write on this page is the app, whose own origin
 * must be allowed.
 */
export const appOrigins = 'https:'

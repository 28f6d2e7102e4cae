// The registration of the app, and where its own pages are, behind a proxy that speaks HTTPS.
export const { ISSUER = '', CLIENT_ID = '', CLIENT_SECRET = '', APP_URL = '' } = process.env

/** Tells the test where the app listens. */
export const listening = (port) => console.log(JSON.stringify({ url: `http://127.0.0.1:${port}` }))

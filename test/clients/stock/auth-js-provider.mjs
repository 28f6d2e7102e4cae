import { CLIENT_ID, CLIENT_SECRET, ISSUER } from './settings.mjs'

// #region guide
export const appPlatform = {
  id: 'app-platform',
  name: 'App Platform',
  type: 'oauth',
  issuer: ISSUER,
  clientId: CLIENT_ID,
  clientSecret: CLIENT_SECRET,
  authorization: { url: `${ISSUER}/oauth/authorize`, params: { scope: 'profile:read profile.email:read' } },
  token: `${ISSUER}/oauth/token`,
  userinfo: `${ISSUER}/oauth/userinfo`,
  checks: ['pkce', 'state'],
  profile: ({ sub, name, email, picture }) => ({ id: sub, name, email, image: picture }),
}
// #endregion

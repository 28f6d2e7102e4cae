/** Names of files that hold secrets and nothing else; samples of them are for others to fill in. */
const secretNames = [
  /^\.env(rc|~|[.-].+)?$/,
  /\.env$/,
  /\.(pem|key|p8|p12|pfx|jks|keystore|ppk|kdbx|asc|gpg)$/,
  /^id_(rsa|dsa|ecdsa|ed25519)(_sk)?(~|\.(?!pub$).+)?$/,
  /^\.(npmrc|pypirc|netrc|htpasswd|git-credentials|pgpass|dockercfg)$/,
  /^_netrc$/,
  /^\.dockerconfigjson$/,
  /^credentials$/,
  /^(client_secret|service[-_]?account|credentials)[^/]*\.json$/,
] as const
const samples = /^(\.env[.-](example|sample|template|dist)|(example|sample|template)\.env)$/

/** Whether a file of this name is kept out of every upload. */
export const isSecretName = (path: string): boolean => {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase()
  return !samples.test(name) && secretNames.some((pattern) => pattern.test(name))
}

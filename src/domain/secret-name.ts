/** Names of files that hold secrets. Samples of such files, to be filled in by others, are allowed. */
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

/** Whether a file of this name must not be uploaded. */
export const isSecretName = (path: string): boolean => {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase()
  return !samples.test(name) && secretNames.some((pattern) => pattern.test(name))
}

import { join } from 'node:path'
import { lastingFolder } from '../../support/temporary-folder.ts'

/** Paths of PEM files: the authority, and the server's certificate and key. */
export type Certificates = { readonly authority: string; readonly certificate: string; readonly key: string }

/** Python 3.13 reads RFC 5280 strictly: the extensions must say what is an authority and what is not. */
const extensionsFor = (names: string): string => `
[req]
distinguished_name = name
[name]
[authority]
subjectKeyIdentifier = hash
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign
[server]
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectAltName = ${names}
`

const request = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -config openssl.cnf'

/** A new certificate authority, and a certificate signed by it, for `localhost` or for other names. */
export const makeCertificates = async (names = 'DNS:localhost, IP:127.0.0.1'): Promise<Certificates> => {
  const folder = lastingFolder()
  await Bun.write(join(folder, 'openssl.cnf'), extensionsFor(names))
  const issue = async (name: string, signer = '') =>
    await openssl(
      folder,
      `${request} -extensions ${name} -subj /CN=${name} -keyout ${name}.key -out ${name}.pem ${signer}`,
    )
  await issue('authority')
  await issue('server', '-CA authority.pem -CAkey authority.key')
  const at = (name: string) => join(folder, name)
  return { authority: at('authority.pem'), certificate: at('server.pem'), key: at('server.key') }
}

const openssl = async (folder: string, args: string): Promise<void> => {
  const command = ['openssl', ...args.trim().split(' ')]
  const made = Bun.spawn(command, { cwd: folder, stdout: 'ignore', stderr: 'pipe' })
  if ((await made.exited) !== 0) throw new Error(`openssl: ${await new Response(made.stderr).text()}`)
}

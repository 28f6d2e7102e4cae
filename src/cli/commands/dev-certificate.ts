import type { Command } from 'commander'
import { existsSync, mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { answer, CommandFailed } from '../output.ts'

/** Browsers take no certificate for longer. */
const days = 397

/** The certificate of one server. It cannot sign others, so whoever gets its key can imitate this machine's own names only. */
const request = `[req]
distinguished_name = name
x509_extensions = server
[name]
[server]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectKeyIdentifier = hash
subjectAltName = DNS:localhost, IP:127.0.0.1, IP:::1
`

export const addDevCertificateCommand = (program: Command): void => {
  program
    .command('dev-certificate')
    .description('Create a certificate for https://localhost, for an app on your own machine.')
    .argument('[folder]', 'the folder for localhost.pem and localhost-key.pem', '.')
    .option('--json', 'print exactly one JSON value on stdout')
    .addHelpText('after', '\nNeeds openssl. The key is for your machine only: keep it out of the repository.')
    .action(async (folder: string, flags: { readonly json?: boolean }) => {
      const certificate = resolve(folder, 'localhost.pem')
      const key = resolve(folder, 'localhost-key.pem')
      for (const file of [certificate, key]) {
        if (existsSync(file)) throw new CommandFailed([`${file} exists already and was left as it is.`])
      }
      mkdirSync(folder, { recursive: true })
      await makeCertificate(certificate, key)
      answer(flags, { value: { certificate, key, days }, text: trustText(certificate, key) })
    })
}

/** @throws CommandFailed */
const makeCertificate = async (certificate: string, key: string): Promise<void> => {
  const program = Bun.which('openssl')
  if (program === null) throw new CommandFailed(['There is no openssl on this machine: install it first.'])
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', String(days)]
  const words = ['req', '-x509', '-config', '/dev/stdin', '-subj', '/CN=localhost', ...kind]
  const child = Bun.spawn([program, ...words, '-keyout', key, '-out', certificate], {
    stdin: Buffer.from(request),
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const said = await new Response(child.stderr).text()
  if ((await child.exited) !== 0) throw new CommandFailed(['openssl could not make the certificate.', said.trim()])
}

const trustText = (certificate: string, key: string): string => {
  const file = Bun.$.escape(certificate)
  return `Certificate: ${certificate}
Key:         ${key}
It is for localhost, 127.0.0.1 and ::1, for ${days} days. To trust it:
  Chrome on Linux     certutil -d sql:$HOME/.pki/nssdb -A -t P,, -n localhost -i ${file}
  macOS               security add-trusted-cert -p ssl -k ~/Library/Keychains/login.keychain-db ${file}
  Firefox             open the address once and accept the exception
  Node.js, Bun        export NODE_EXTRA_CA_CERTS=${file}
  curl                curl --cacert ${file} https://localhost:8443`
}

import { basename, dirname } from 'node:path'
import { program as running } from '../../runtime/program.ts'
import { UsageError } from '../output.ts'
import template from './container.txt' with { type: 'text' }
import { type Deployment, fill, type NeededPlace, refuseShared, secretLines, stateFolder } from './deployment.ts'
import { caddyfile, type ProxyTerms } from './proxies.ts'

const folder = `${stateFolder}/app-platform`

const user = '10001'

/** Only Caddy and the server are in this network, so whoever calls from it is Caddy. */
const network = '10.189.0.0/24'

/** Settings that have this value in a container, whatever the environment says. */
export const containerSettings = { HOST: '0.0.0.0', TRUSTED_PROXIES: network } as const

/** How Caddy's container calls the server's. */
export const containerUpstream = ({ port }: Deployment): string => `app-platform:${port}`

/**
 * An image, and services that run it behind Caddy, as three files in one text. tini is process 1, because the kernel lets process 1
 * ignore SIGKILL from itself, with which the server ends after a disk error where it finds no shell. The library that hashes passwords
 * needs libgcc_s and librt, which the base image has.
 */
export const containerFiles = (deployment: Deployment, terms: ProxyTerms): string => {
  const { file, installFrom, program, port, settings, secrets } = deployment
  const places = deployment.places.filter(({ path }) => file === null || path !== folder) // that is the volume
  if (file !== null && dirname(file) !== folder) {
    throw new UsageError(`In a container the database is in ${folder}, which is a volume: leave DATABASE_URL out.`)
  }
  const metricsPort = deployment.metricsListen?.port ?? null // of the container; the host publishes it to itself only
  const inImage = new Set(['HOST', 'PORT', 'DATABASE_URL'])
  const { protocol, port: named } = terms.publicUrl
  const ports = protocol === 'https:' ? new Set(['80', named || '443']) : [named || '80']
  return fill(template, {
    program: Bun.$.escape(installFrom ?? program),
    secretSteps: secrets.length > 0 ? `install -m 0600 /dev/null app-platform.env, ${secretLines(secrets)}` : '',
    placeSteps: places.flatMap(placeStep).join('\n'),
    folder,
    user: `${user}:${user}`,
    network,
    port: String(port),
    version: running.version,
    metrics: metricsPort === null ? '' : `ports: ["127.0.0.1:${metricsPort}:${metricsPort}"]`,
    databaseUrl: file === null ? '' : ` DATABASE_URL=file:${folder}/${encodeURIComponent(basename(file))}`,
    volume:
      file === null
        ? ''
        : `# The folder and not the file, because the files next to the database belong to it.\nVOLUME ["${folder}"]`,
    environment: settings
      .filter(([name]) => !inImage.has(name))
      .map(([name, value]) => `${name}: ${yaml(name === 'METRICS_LISTEN' ? `0.0.0.0:${metricsPort}` : value)}`)
      .join('\n'),
    secrets: secrets.length > 0 ? 'env_file: app-platform.env' : '',
    volumes: file === null && places.length === 0 ? '' : 'volumes:',
    mount: [...(file === null ? [] : [`"data:${folder}"`]), ...places.map(mountOf)]
      .map((each) => `  - ${each}`)
      .join('\n'),
    // Without UDP there is no HTTP/3, which Caddy offers.
    ports: [
      ...Array.from(ports, (each) => `"${each}:${each}"`),
      ...(protocol === 'https:' ? [`"${named || '443'}:${named || '443'}/udp"`] : []),
    ].join(', '),
    data: file === null ? '' : 'data:',
    caddyfile: caddyfile(terms).trimEnd(),
  })
}

/** Each place is where its setting names it, as on this machine. */
const mountOf = ({ path, use }: NeededPlace): string => {
  const at = yaml(path)
  return `{type: bind, source: ${at}, target: ${at}${use === 'reads' ? ', read_only: true' : ''}}`
}

/** The user of the container must get in; the authorities of a database are for everybody. */
const placeStep = ({ setting, path, use }: NeededPlace): readonly string[] => {
  const at = Bun.$.escape(path)
  if (use === 'reads') return setting === 'DATABASE_URL' ? [] : [`chown ${user} ${at}`]
  refuseShared(path, 'backups', `${stateFolder}/app-platform-backups`)
  return [`install -d -m 0700 -o ${user} -g ${user} ${at}`]
}

/** A YAML string; compose would replace what follows a single dollar sign. */
const yaml = (text: string): string => JSON.stringify(text.replaceAll('$', '$$$$'))

import { basename, dirname } from 'node:path'
import { UsageError } from '../output.ts'
import { type Deployment, secretLines, stateFolder } from './deployment.ts'
import { caddyfile, type ProxyTerms } from './proxies.ts'

/** In the Containerfile and in the compose file. */
const user = '10001:10001'
const folder = `${stateFolder}/app-platform`

/** Only Caddy and the server are in this network, so whoever calls from it is Caddy. */
const network = '10.189.0.0/24'

/** Settings that have this value in a container, whatever the environment says. */
export const containerSettings = { HOST: '0.0.0.0', TRUSTED_PROXIES: network } as const

/** How Caddy's container calls the server's. */
export const containerUpstream = ({ port }: Deployment): string => `app-platform:${port}`

/** An image, and services that run it behind Caddy, as three files in one text. */
export const containerFiles = (deployment: Deployment, terms: ProxyTerms): string => {
  const { file, installFrom, program, secrets } = deployment
  if (file !== null && dirname(file) !== folder) {
    throw new UsageError(`In a container the database is in ${folder}, which is a volume: leave DATABASE_URL out.`)
  }
  return `# app-platform print container --to FOLDER writes these three files. Then, in that folder:
#   cp ${Bun.$.escape(installFrom ?? program)} app-platform
${secrets.length > 0 ? `#   install -m 0600 /dev/null app-platform.env, ${secretLines(secrets)}\n` : ''}#   docker compose up --build --detach
#   docker compose exec app-platform app-platform user invite you@example.com --name "Your Name" --operator
# With Podman, build with --format docker, or the image has no health check.

# ---- Containerfile
${containerfile(deployment)}
# ---- compose.yaml
${composeFile(deployment, terms)}
# ---- Caddyfile
${caddyfile(terms)}`
}

/**
 * tini is process 1, because the kernel lets process 1 ignore SIGKILL from itself, with which the server ends after a disk error.
 * The library that hashes passwords needs libgcc_s and librt, which this base has.
 */
const containerfile = ({ file, port }: Deployment): string => `FROM debian:13-slim
RUN apt-get update && apt-get install -y --no-install-recommends tini && rm -rf /var/lib/apt/lists/* \\
 && install -d -m 0700 -o 10001 -g 10001 ${folder}
COPY --chmod=0755 app-platform /usr/local/bin/app-platform
USER ${user}
ENV HOST=0.0.0.0 PORT=${port}${file === null ? '' : ` DATABASE_URL=file:${folder}/${encodeURIComponent(basename(file))}`}
EXPOSE ${port}
${file === null ? '' : `# The folder and not the file, because the files next to the database belong to it.\nVOLUME ["${folder}"]\n`}HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["app-platform", "health"]
ENTRYPOINT ["tini", "--", "app-platform"]
CMD ["serve"]
`

const composeFile = ({ file, settings, secrets }: Deployment, { publicUrl }: ProxyTerms): string => {
  const inImage = new Set(['HOST', 'PORT', 'DATABASE_URL'])
  const environment = settings.filter(([name]) => !inImage.has(name))
  const port = publicUrl.port || (publicUrl.protocol === 'https:' ? '443' : '80')
  return `services:
  app-platform:
    build:
      context: .
      dockerfile: Containerfile
    restart: always
    stop_grace_period: 30s
    user: "${user}"
    read_only: true
    cap_drop: [ALL]
    security_opt: ["no-new-privileges:true"]
    # The library that hashes passwords is loaded from here.
    tmpfs: ["/tmp:exec,mode=1777,size=64m"]
    ulimits:
      core: 0
      nofile: 65536
    environment:
${environment.map(([name, value]) => `      ${name}: ${yaml(value)}`).join('\n')}
${[...(secrets.length > 0 ? ['    env_file: app-platform.env'] : []), ...(file === null ? [] : [`    volumes: ["data:${folder}"]`])].join('\n')}
    networks: [inside]
  caddy:
    image: caddy:2
    restart: always
    depends_on: [app-platform]
    ports: [${[...new Set(publicUrl.protocol === 'https:' ? ['80', port] : [port])].map((each) => `"${each}:${each}"`).join(', ')}]
    volumes: ["./Caddyfile:/etc/caddy/Caddyfile:ro", "caddy-data:/data"]
    networks: [inside]
volumes:
${file === null ? '' : '  data:\n'}  caddy-data:
networks:
  inside:
    ipam:
      config:
        - subnet: ${network}
`
}

/** A YAML string; compose would replace what follows a single dollar sign. */
const yaml = (text: string): string => JSON.stringify(text.replaceAll('$', '$$$$'))

import { Elysia } from 'elysia'
import type { Door } from '../../../http/door.ts'
import { readHealth } from '../../../operations/health/figures.ts'
import { program } from '../../../runtime/program.ts'
import { page } from '../../page.ts'
import { operatorOnly, visitOf } from '../../visit.ts'
import { deskPaths } from '../paths.ts'
import { HealthPage } from './health-page.tsx'

/** How the server is. */
export const healthRoutes = (door: Door) =>
  new Elysia().use(operatorOnly(door)).get(deskPaths.health, async ({ request }) => {
    const health = await readHealth(door.platform)
    const running = { ...program, uptimeSeconds: program.uptimeSeconds() }
    return page(<HealthPage visit={visitOf(request)} health={health} program={running} />)
  })

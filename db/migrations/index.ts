import type { Migration } from '../migrate.ts'
import initial from './0001_initial.sql' with { type: 'text' }
import pages from './0002_pages.sql' with { type: 'text' }
import embedded from './0003_embedded.sql' with { type: 'text' }
import webhooks from './0004_webhooks.sql' with { type: 'text' }
import carriedEnds from './0005_carried_ends.sql' with { type: 'text' }
import operating from './0006_operating.sql' with { type: 'text' }
import timeKeys from './0007_time_keys.sql' with { type: 'text' }
import webhookExchange from './0008_webhook_exchange.sql' with { type: 'text' }
import serviceKeys from './0009_service_keys.sql' with { type: 'text' }
import hourlyCounts from './0010_hourly_counts.sql' with { type: 'text' }
import erasure from './0011_erasure.sql' with { type: 'text' }
import signInRequests from './0012_sign_in_requests.sql' with { type: 'text' }
import secretHints from './0013_secret_hints.sql' with { type: 'text' }
import identities from './0014_identities.sql' with { type: 'text' }
import stagedResources from './0015_staged_resources.sql' with { type: 'text' }
import secondFactors from './0016_second_factors.sql' with { type: 'text' }
import passwordLinks from './0017_password_links.sql' with { type: 'text' }
import mails from './0018_mails.sql' with { type: 'text' }
import passkeys from './0019_passkeys.sql' with { type: 'text' }
import members from './0020_members.sql' with { type: 'text' }
import emailLinks from './0021_email_links.sql' with { type: 'text' }
import mailedInvitations from './0022_mailed_invitations.sql' with { type: 'text' }
import askedSessions from './0023_asked_sessions.sql' with { type: 'text' }
import importChanges from './0024_import_changes.sql' with { type: 'text' }
import { copyWithTimeKeys } from './time-keys.ts'

const step = (id: number, name: string, sql: string, sha256: string): Migration => ({ id, name, sql, sha256 })

/** Every step of the schema, in order, embedded in the program. Append only: a released step never changes. */
export const migrations: readonly Migration[] = [
  step(1, 'initial', initial, 'ca59495407a3732c2f14815f7addac6998d5f597a56473cc384825dcb015295d'),
  step(2, 'pages', pages, '1db5fb7991173a383db16a3f1b116c4dbf469a4bb39e3a4e3ab8940715b5c28e'),
  step(3, 'embedded', embedded, '5a62b6225d86453e244ab1ff7dc96b617e828e8200ad66b7ec925c82ad0afd63'),
  step(4, 'webhooks', webhooks, 'da01225aad4f7077a1490bf315c8656d81edc29dfa99a98e21a6f2c501f2a677'),
  step(5, 'carried_ends', carriedEnds, 'd02ff3681a0a648badc3f5d99f58901a6b33392ae04d3dadfb0fda2904035ad5'),
  step(6, 'operating', operating, '86566791293a28efeaa3a462d79b7f3de2fdca5640521cade790552463f9b4e0'),
  {
    ...step(7, 'time_keys', timeKeys, '108cb67646492ed1f7ea03d4c3c238d028af4a912c2e1cc6c4ae2802ff3d196a'),
    copyRows: copyWithTimeKeys,
  },
  step(8, 'webhook_exchange', webhookExchange, '100eb6c834fe8b2c6e9368b98ecf5a6e6108a0769f012564a9192d25a01b3aa9'),
  step(9, 'service_keys', serviceKeys, '7f19c405ced33b1128a78336dea14f855360bb6ef944702b3ee9e3ded8d2701f'),
  step(10, 'hourly_counts', hourlyCounts, '8bf96a934e3623ab9f374050db0c3b1131a901e70453cd3fdb87a6e7bfafaa4d'),
  step(11, 'erasure', erasure, '8929a4773113c0a36ba6bb6d448476bdb67b1edd7e5e684b070478f2ca851a37'),
  step(12, 'sign_in_requests', signInRequests, 'f944e8ecd17b7b740304b1a0e7bff016fa01bb6705b85a9b8d58686971dbc942'),
  step(13, 'secret_hints', secretHints, '6579f1e04aa6688018ac5c092aa3041ebf0da962c0e9d0c60b5795c7246bfa25'),
  step(14, 'identities', identities, '1a9f0eb0540979d1e141e1baec0d3ae1518608ae78d75a9c7fb40ae9990176f5'),
  step(15, 'staged_resources', stagedResources, '7c9cbdd980ff7ccf7552608941db4f3ec7de41fa80bffae94f23e6df010e9719'),
  step(16, 'second_factors', secondFactors, 'b551e8344b58e13bb12e4b7049044ac5624c69d938f989701484a0e81b7a810f'),
  step(17, 'password_links', passwordLinks, '1542a9309ba723a315eb567ad8d18fd5f0ef213c5115f674892ce0cb02b2be17'),
  step(18, 'mails', mails, '2263436bab7203aa46f3d0e716ae7b0008661c62cf7c5282e1694fb04b4914dd'),
  step(19, 'passkeys', passkeys, '084104558646d4000177529d057a98a8c3fef73fae850af69ccc707adcbe9de1'),
  step(20, 'members', members, '939eb01937c783367cbf1ad5b32eb224ba62a50a072b28ef03b5114dbba33b32'),
  step(21, 'email_links', emailLinks, 'eb26e54a28cd4602fcce728a3e4b89c73b82c6db34e0f378b8aa5058f615d22c'),
  step(22, 'mailed_invitations', mailedInvitations, 'bddabee74d1dffb38f16789210fbb2063309951771c1b34fdd9e77e752f5a4af'),
  step(23, 'asked_sessions', askedSessions, 'bfa430a0b59026a37a6eb8543a0fe4613250251578e077bcf7794abf286ecfc0'),
  step(24, 'import_changes', importChanges, '78fec7364ef5d6cb98423fce8f1687d54ad2478fc85d1fbfe6c39280c33895bc'),
]

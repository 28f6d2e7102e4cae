import type { PostgresMigration } from '../postgres/schema.ts'
import initial from './postgres/0001_initial.sql' with { type: 'text' }
import nodes from './postgres/0002_nodes.sql' with { type: 'text' }
import severalServers from './postgres/0003_several_servers.sql' with { type: 'text' }
import webhookExchange from './postgres/0004_webhook_exchange.sql' with { type: 'text' }
import serviceKeys from './postgres/0005_service_keys.sql' with { type: 'text' }
import hourlyCounts from './postgres/0006_hourly_counts.sql' with { type: 'text' }
import erasure from './postgres/0007_erasure.sql' with { type: 'text' }
import signInRequests from './postgres/0008_sign_in_requests.sql' with { type: 'text' }
import secretHints from './postgres/0009_secret_hints.sql' with { type: 'text' }
import identities from './postgres/0010_identities.sql' with { type: 'text' }
import stagedResources from './postgres/0011_staged_resources.sql' with { type: 'text' }
import secondFactors from './postgres/0012_second_factors.sql' with { type: 'text' }
import passwordLinks from './postgres/0013_password_links.sql' with { type: 'text' }
import mails from './postgres/0014_mails.sql' with { type: 'text' }
import passkeys from './postgres/0015_passkeys.sql' with { type: 'text' }
import members from './postgres/0016_members.sql' with { type: 'text' }
import emailLinks from './postgres/0017_email_links.sql' with { type: 'text' }
import mailedInvitations from './postgres/0018_mailed_invitations.sql' with { type: 'text' }
import askedSessions from './postgres/0019_asked_sessions.sql' with { type: 'text' }
import importChanges from './postgres/0020_import_changes.sql' with { type: 'text' }

/** Every step of the schema on PostgreSQL, in order. Append only. From 8 on, a step of SQLite has one here as well. */
export const postgresMigrations: readonly PostgresMigration[] = [
  { id: 1, name: 'initial', sql: initial, sha256: '7263376f6434cdbc0a06bb07ac938904500148f405fa4ef250df0c0a9777b49f' },
  { id: 2, name: 'nodes', sql: nodes, sha256: 'b9d4d35a7153820bef6d47e8fd06679228961a4e6ae546eeccfb00b6cac5669f' },
  {
    id: 3,
    name: 'several_servers',
    sql: severalServers,
    sha256: '6e0613a8fc7dd139493512b041cc1cf7f09431b8d2887664a45c061f5338c073',
  },
  {
    id: 4,
    name: 'webhook_exchange',
    sql: webhookExchange,
    sha256: '7204241b367d4059fedd3c2851c1067b7567f293821152589a1cd65a40c9a17f',
  },
  {
    id: 5,
    name: 'service_keys',
    sql: serviceKeys,
    sha256: '03b4bac2e5ac125758a624bce27bba07709d79c56e76c5cf89ed5234afb5cf7e',
  },
  {
    id: 6,
    name: 'hourly_counts',
    sql: hourlyCounts,
    sha256: 'c675fbb46bd2bf17965658586c4ae49ddb67190ad23b465e0fa1b7bc789c99bb',
  },
  { id: 7, name: 'erasure', sql: erasure, sha256: '33b1dfa9f60d4a8c67649dce82bbde74cc61b9986486f0de7fc3b070cbb1a243' },
  {
    id: 8,
    name: 'sign_in_requests',
    sql: signInRequests,
    sha256: 'a45177f4011cf0afbb7b108c87b1228ac9f0b27ca42f72017b7675053317bd1a',
  },
  {
    id: 9,
    name: 'secret_hints',
    sql: secretHints,
    sha256: 'c7187d81dfc4ee84d876ce25c2f09c475242998ff22a6a17dfa9a64f46d13c5d',
  },
  {
    id: 10,
    name: 'identities',
    sql: identities,
    sha256: '624c5b6bd1c808ca7a53336a9c8164e0409064174458bb0939c7231cfbe65fc6',
  },
  {
    id: 11,
    name: 'staged_resources',
    sql: stagedResources,
    sha256: '5c466751e0663d3ae0dff53f34f39e30b8d05dbaf006cd07f92fcf8d2267025d',
  },
  {
    id: 12,
    name: 'second_factors',
    sql: secondFactors,
    sha256: '4b12b552930aef8c1f0ea3a07cecffed8689a8c3d9f0502e1f95879f9dc93c2d',
  },
  {
    id: 13,
    name: 'password_links',
    sql: passwordLinks,
    sha256: '73693ed4ae7ab5988a6a33836087163a2d2e624f84240c998896f9594c46ac07',
  },
  { id: 14, name: 'mails', sql: mails, sha256: 'b8055d6fbe7a47b33ec349d6bfb1d28e85960b8b1ff9de66ef94443cad88e1f4' },
  {
    id: 15,
    name: 'passkeys',
    sql: passkeys,
    sha256: 'b3b4db96a7fdd9044f4b0b5a793245de334784234dbd7939d405a5c0df7f8fcd',
  },
  {
    id: 16,
    name: 'members',
    sql: members,
    sha256: '2906be6fbe8bed76721b30e2e9a4f765eb4da0bba47963290a223b84cf14552b',
  },
  {
    id: 17,
    name: 'email_links',
    sql: emailLinks,
    sha256: '0f3b484581751c88fcc88dcbd88b8643bebabb005185c7dafb49c102337f302c',
  },
  {
    id: 18,
    name: 'mailed_invitations',
    sql: mailedInvitations,
    sha256: '096fd047533b3f72a0c30979ecd650d49b0ed689131f74b68b90eadb50a00624',
  },
  {
    id: 19,
    name: 'asked_sessions',
    sql: askedSessions,
    sha256: 'c1c33000ee30beca7a71f73e5f0a3f9c8a569663572647213d5d4f4af503a10c',
  },
  {
    id: 20,
    name: 'import_changes',
    sql: importChanges,
    sha256: '6132f1f2b9fc68d0dedb3ec214abc0217f3011afb11b5799bdd9510d4172e04c',
  },
]

import type { VersionStep } from '../../domain/version.ts'

const [ada, grace] = ['ada@example.com', 'grace@example.com'] as const
/** The users of the demo. */
export const demoUsers = [
  { email: ada, name: 'Ada Okafor', operator: true },
  { email: grace, name: 'Grace Lindqvist', operator: false },
] as const

const publishedAt = '2026-03-14T09:00:00.000Z'

/** In the format of `resource import`. */
export const demoResources = [
  { owner: ada, kind: 'site', name: 'Ada on Engines', slug: 'ada-on-engines', status: 'published', publishedAt },
  { owner: ada, kind: 'store', name: 'Punched Cards', slug: 'punched-cards', status: 'draft' },
  { owner: grace, kind: 'site', name: 'Garden Journal', slug: 'garden-journal', status: 'published', publishedAt },
  { owner: grace, kind: 'site', name: 'Spring Fair', slug: 'spring-fair', status: 'draft' },
  { owner: grace, kind: 'site', name: 'Old Blog', slug: 'old-blog', status: 'archived', publishedAt },
  { owner: grace, kind: 'store', name: 'Plant Shop', slug: 'plant-shop', status: 'published', publishedAt },
  { owner: grace, kind: 'store', name: 'Seed Swap', slug: 'seed-swap', status: 'archived', publishedAt },
] as const

export type DemoVersion = {
  readonly version: string
  readonly notes: string
  /** The steps from draft to its final status. */
  readonly steps: readonly VersionStep[]
}

const released = ['submit', 'approve', 'activate'] as const

/** The first app has a version in every status: activating 1.1.0 supersedes 1.0.0. */
const newsletterVersions: readonly DemoVersion[] = [
  { version: '1.0.0', notes: 'First release.', steps: released },
  { version: '1.1.0', notes: 'Letters can be scheduled.', steps: released },
  { version: '1.2.0-beta.1', notes: 'A new editor, too early.', steps: ['submit', 'reject'] },
  { version: '1.2.0', notes: 'A new editor.', steps: ['submit', 'approve'] },
  { version: '1.3.0', notes: 'Letters in several languages.', steps: ['submit'] },
  { version: '1.4.0', notes: 'Work in progress.', steps: [] },
]

export const demoApps = [
  { slug: 'newsletter', name: 'Newsletter Studio', owner: ada, versions: newsletterVersions },
  {
    slug: 'shop-insights',
    name: 'Shop Insights',
    owner: ada,
    versions: [{ version: '0.1.0', notes: 'First draft.', steps: [] }],
  },
] as const

/** One approved install, and one that waits for an operator. */
export const demoInstalls = [
  { app: 'newsletter', user: grace, kind: 'site', resource: 'garden-journal', approved: true },
  { app: 'shop-insights', user: grace, kind: 'store', resource: 'plant-shop', approved: false },
] as const

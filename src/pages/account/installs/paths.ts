import type { Environment } from '../../../domain/app.ts'

/** The installs of who is signed in, and the apps that can be installed. */
export const installsPath = '/installs'
const appsPath = '/apps'

// Their types are the paths themselves, by which a route knows its parameters.
export const openPath = <Id extends string>(id: Id) => `${installsPath}/${id}/open` as const
export const codePath = <Id extends string>(id: Id) => `${installsPath}/${id}/code` as const
export const endPath = <Id extends string>(id: Id) => `${installsPath}/${id}/end` as const
export const agreePath = <Id extends string>(id: Id) => `${installsPath}/${id}/agree` as const
export const livePath = <Slug extends string>(slug: Slug) => `${appsPath}/${slug}` as const
export const testPath = <Slug extends string>(slug: Slug) => `${appsPath}/${slug}/test` as const

/** Where an app is installed: what users get, or what its developer is testing. */
export const installPath = (slug: string, environment: Environment): string =>
  environment === 'production' ? livePath(slug) : testPath(slug)

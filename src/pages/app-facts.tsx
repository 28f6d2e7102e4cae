import type { ComponentChildren } from 'preact'
import type { AppFacts } from '../domain/manifest.ts'
import { Badge } from './design/badge.tsx'

/** The addresses that an app names, by what each is. */
export const linksOf = ({ websiteUrl, supportUrl, privacyUrl }: AppFacts) => ({
  Website: websiteUrl,
  Support: supportUrl,
  Privacy: privacyUrl,
})

type OutLinkProps = { readonly href: string; readonly children: ComponentChildren }

/** A link that somebody else chose. It opens beside the page and learns nothing of it. */
export const OutLink = ({ href, children }: OutLinkProps) => (
  <a href={href} target="_blank" rel="noopener noreferrer nofollow">
    {children}
  </a>
)

/** A description that is longer is cut where it would push the decision out of sight. */
const longestShort = 200

type AppFactsProps = {
  /** Null if no operator has reviewed what the app says. */
  readonly facts: AppFacts | null
  readonly isShort?: boolean
}

/** What an app says about itself, or that nobody has reviewed it. Its words are never mistaken for ours: they follow its name. */
export const AboutApp = ({ facts, isShort = false }: AppFactsProps) => {
  if (facts === null) {
    return (
      <p>
        <Badge tone="waiting">Not reviewed by the operator of this server</Badge>
      </p>
    )
  }
  const { description } = facts
  const links = Object.entries(linksOf(facts)).flatMap(([words, href]) => (href === null ? [] : [{ href, words }]))
  const cut = isShort && description !== null && description.length > longestShort
  return (
    <>
      {description === null ? null : (
        <p>
          <bdi>{cut ? `${description.slice(0, longestShort).toWellFormed()}…` : description}</bdi>
        </p>
      )}
      {links.length === 0 ? null : (
        <p class="beside">
          {links.map(({ href, words }) => (
            <OutLink key={words} href={href}>
              {words}
            </OutLink>
          ))}
        </p>
      )}
    </>
  )
}

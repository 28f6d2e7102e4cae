/** The way on in a long list; nothing at its end. */
export const Older = ({ href }: { readonly href: string | null }) =>
  href === null ? null : (
    <p>
      <a href={href} rel="next">
        Older
      </a>
    </p>
  )

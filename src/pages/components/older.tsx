/** The way on in a long list; nothing at its end. */
export const Older = ({ href, name }: { readonly href: string | null; readonly name: string }) =>
  href === null ? null : (
    <p>
      <a href={href} rel="next">
        {name}
      </a>
    </p>
  )

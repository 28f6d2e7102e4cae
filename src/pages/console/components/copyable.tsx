type CopyableProps = { readonly id: string; readonly value: string; readonly what: string }

/** A value that is copied more often than read; the button appears only where it can work. */
export const Copyable = ({ id, value, what }: CopyableProps) => (
  <span class="copyable">
    <code id={id}>{value}</code>{' '}
    <button type="button" class="outline secondary small" data-copy={id} aria-label={`Copy ${what}`} hidden>
      Copy
    </button>
  </span>
)

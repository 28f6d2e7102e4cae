type CodeBlockProps = { readonly id: string; readonly label: string; readonly code: string }

/** Lines to be read and copied as they are; they scroll by themselves, also by keyboard. */
export const CodeBlock = ({ id, label, code }: CodeBlockProps) => (
  <div class="code-block">
    <pre tabIndex={0} role="region" aria-label={label}>
      <code id={id}>{code}</code>
    </pre>
    <button type="button" class="outline secondary small" data-copy={id} aria-label={`Copy: ${label}`} hidden>
      Copy
    </button>
  </div>
)

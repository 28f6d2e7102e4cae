type SecretProps = { readonly label: string; readonly value: string; readonly hint?: string }

/** A secret, shown once. Without the script it can still be selected as a whole. */
export const Secret = ({ label, value, hint = onlyHash }: SecretProps) => (
  <div class="secret">
    <label for="secret">{label}</label>
    <div class="beside">
      <input id="secret" type="text" readOnly value={value} autocomplete="off" spellcheck={false} />
      <button type="button" class="secondary" data-copy="secret" hidden>
        Copy
      </button>
    </div>
    <small>{hint}</small>
  </div>
)

const onlyHash = 'Copy it now: only its hash is kept, and nobody can show it again.'

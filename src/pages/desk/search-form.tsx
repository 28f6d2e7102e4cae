type SearchFormProps = {
  readonly action: string
  readonly label: string
  readonly part: string
}

/** Asks for a part of a name; the answer is an address that can be kept. */
export const SearchForm = ({ action, label, part }: SearchFormProps) => (
  <search>
    <form method="get" action={action} class="beside search">
      <label for="q" class="unseen">
        {label}
      </label>
      <input type="search" id="q" name="q" value={part} placeholder={label} maxLength={254} />
      <button type="submit" class="secondary">
        Search
      </button>
      {part === '' ? null : <a href={action}>Show all</a>}
    </form>
  </search>
)

import type { PlatformError } from '../../domain/errors.ts'

type FieldProps = {
  readonly label: string
  readonly name: string
  /** Unique on the page; the name unless said otherwise. */
  readonly id?: string
  readonly hint?: string
  /** What was refused; the field shows it when it is at fault. */
  readonly error?: PlatformError | null
  /** Several lines. */
  readonly rows?: number
  readonly input?: InputRules
}

type InputRules = {
  readonly type?: keyof typeof inputs
  readonly value?: string
  readonly required?: boolean
  readonly maxLength?: number
  readonly min?: number
  readonly max?: number
  readonly autocomplete?: string
  readonly placeholder?: string
  readonly spellcheck?: boolean
}

type Attributes = Omit<InputRules, 'type'> & {
  readonly id: string
  readonly name: string
  readonly 'aria-describedby': string | undefined
  readonly 'aria-invalid': 'true' | undefined
}

/** One line for each type: which attributes an input may have depends on it. */
const inputs = {
  text: (attributes: Attributes) => <input type="text" {...attributes} />,
  email: (attributes: Attributes) => <input type="email" {...attributes} />,
  password: (attributes: Attributes) => <input type="password" {...attributes} />,
  number: (attributes: Attributes) => <input type="number" {...attributes} />,
  url: (attributes: Attributes) => <input type="url" {...attributes} />,
  search: (attributes: Attributes) => <input type="search" {...attributes} />,
} as const

/** A labelled field. Its hint and its fault are read out with it (WCAG 1.3.1, 3.3.1). */
export const Field = ({ label, name, id = name, hint, error, rows, input = {} }: FieldProps) => {
  const fault = error?.facts.param === name ? error.message : null
  const described = [...(hint === undefined ? [] : [`${id}-hint`]), ...(fault === null ? [] : [`${id}-fault`])]
  const { type = 'text', ...rules } = input
  const shared = {
    id,
    name,
    ...rules,
    'aria-describedby': described.length === 0 ? undefined : described.join(' '),
    'aria-invalid': fault === null ? undefined : ('true' as const),
  }
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {rows === undefined ? inputs[type](shared) : <textarea rows={rows} {...shared} />}
      {hint === undefined ? null : <small id={`${id}-hint`}>{hint}</small>}
      {fault === null ? null : (
        <small id={`${id}-fault`} class="fault">
          {fault}
        </small>
      )}
    </div>
  )
}

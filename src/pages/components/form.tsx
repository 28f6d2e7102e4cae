import type { ComponentChildren } from 'preact'
import type { PlatformError } from '../../domain/errors.ts'
import type { TicketBook } from '../visit.ts'

type FormProps = {
  /** The path that the form is sent to; its ticket is valid for this path only. */
  readonly action: string
  readonly visit: { readonly tickets: TicketBook }
  /** Values that the ticket binds: they must come back as this page shows them. */
  readonly bound?: readonly string[]
  readonly class?: string
  readonly children: ComponentChildren
}

/** A form that changes something, with the ticket that protects it against CSRF. */
export const Form = ({ action, visit, bound, class: name, children }: FormProps) => (
  <form method="post" action={action} class={name} data-once>
    <input type="hidden" name="ticket" value={visit.tickets.issue(action, bound)} />
    {children}
  </form>
)

type ButtonFormProps = Pick<FormProps, 'action' | 'visit'> & {
  /** The classes of the button. */
  readonly look?: string
  readonly children: ComponentChildren
}

/** A form that has only a button. */
export const ButtonForm = ({ action, visit, look, children }: ButtonFormProps) => (
  <Form action={action} visit={visit}>
    <button type="submit" class={look}>
      {children}
    </button>
  </Form>
)

type FieldProps = {
  readonly label: string
  readonly name: string
  /** Unique on the page; the name by default. */
  readonly id?: string
  readonly hint?: string
  /** Why the form was refused; shown here when it is about this field. */
  readonly error?: PlatformError | null
  /** The height of a text area; a single line without it. */
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

/** One line for each type, because the allowed attributes depend on the type. */
const inputs = {
  text: (attributes: Attributes) => <input type="text" {...attributes} />,
  email: (attributes: Attributes) => <input type="email" {...attributes} />,
  password: (attributes: Attributes) => <input type="password" {...attributes} />,
  number: (attributes: Attributes) => <input type="number" {...attributes} />,
  url: (attributes: Attributes) => <input type="url" {...attributes} />,
  search: (attributes: Attributes) => <input type="search" {...attributes} />,
} as const

/** A labelled field. Screen readers read its hint and its error with it (WCAG 1.3.1, 3.3.1). */
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

/** Why the form below was refused. Screen readers announce it. */
export const Problem = ({ error }: { readonly error: PlatformError | null }) =>
  error === null ? null : (
    <p class="problem" role="alert">
      {error.message}
    </p>
  )

type ChoiceSetProps = {
  readonly legend: string
  readonly name: string
  readonly error?: PlatformError | null
  readonly children: ComponentChildren
}

/** A group of choices, with the error that is about them. */
export const ChoiceSet = ({ legend, name, error, children }: ChoiceSetProps) => {
  const fault = error?.facts.param === name ? error.message : null
  return (
    <fieldset class="scopes" aria-describedby={fault === null ? undefined : `${name}-fault`}>
      <legend>{legend}</legend>
      {fault === null ? null : (
        <p id={`${name}-fault`} class="fault">
          {fault}
        </p>
      )}
      {children}
    </fieldset>
  )
}

type ChoiceProps = {
  readonly type: 'checkbox' | 'radio'
  readonly name: string
  readonly value: string
  readonly checked: boolean
  readonly about: ComponentChildren
  /** The label. */
  readonly children: ComponentChildren
}

/** One choice of a group, with a line about it. */
export const Choice = ({ type, name, value, checked, about, children }: ChoiceProps) => {
  const id = `${name}-${value}`
  const shared = { id, name, value, checked, 'aria-describedby': `about-${id}` }
  return (
    <div class="scope">
      {type === 'checkbox' ? <input type="checkbox" {...shared} /> : <input type="radio" {...shared} />}
      <label for={id}>{children}</label>
      <small id={`about-${id}`}>{about}</small>
    </div>
  )
}

type FilterProps = {
  /** The address of the list, which the form asks for again with the choice. */
  readonly path: string
  readonly name: string
  readonly label: string
  /** The name of the choice that shows everything. */
  readonly all: string
  readonly options: readonly (readonly [value: string, words: string])[]
  readonly selected: string | null
}

/** Narrows a list to one value. */
export const Filter = ({ path, name, label, all, options, selected }: FilterProps) => (
  <form method="get" action={path} class="filter">
    <Choices name={name} label={label} all={all} options={options} selected={selected} />
    <button type="submit" class="outline">
      Show
    </button>
  </form>
)

/** A labelled list to choose one value from, or all. */
export const Choices = ({ name, label, all, options, selected }: Omit<FilterProps, 'path'>) => (
  <>
    <label for={name}>{label}</label>
    <select id={name} name={name}>
      <option value="" selected={selected === null}>
        {all}
      </option>
      {options.map(([value, words]) => (
        <option key={value} value={value} selected={value === selected}>
          {words}
        </option>
      ))}
    </select>
  </>
)

type SearchFormProps = {
  readonly path: string
  readonly name?: string
  readonly label: string
  readonly value: string
  readonly maxLength?: number
  readonly button?: string
}

/** Searches a list. The result has an address of its own, which can be kept and shared. */
export const SearchForm = ({ path, name = 'q', label, value, maxLength = 254, button = 'Search' }: SearchFormProps) => (
  <search>
    <form method="get" action={path} class="beside search">
      <label for={name} class="unseen">
        {label}
      </label>
      <input type="search" id={name} name={name} value={value} placeholder={label} maxLength={maxLength} />
      <button type="submit" class="secondary">
        {button}
      </button>
      {value === '' ? null : <a href={path}>Show all</a>}
    </form>
  </search>
)

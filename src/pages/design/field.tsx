import { type TProperties, type TString, Type } from '@sinclair/typebox'
import type { ComponentChildren } from 'preact'
import { useContext } from 'preact/hooks'
import type { PlatformError } from '../../domain/errors.ts'
import { FormState } from '../kept-form.ts'
import { ofOneField } from '../page.ts'
import { refusalInWords } from '../words.ts'

/** Why a form was refused: nothing, one error, or all errors of its fields in their order. */
export type FormErrors = PlatformError | readonly PlatformError[] | null | undefined

const listOf = (error: FormErrors): readonly PlatformError[] => {
  if (error === null || error === undefined) return []
  const given = 'length' in error ? error : [error]
  return given.flatMap((one) => [one].concat(one.facts.also ?? []))
}

/** What the form says about the field with this name. The first field with an error gets the focus. */
const useFaults = (name: string, given: FormErrors) => {
  const { error } = useContext(FormState)
  const errors = listOf(given ?? error)
  const faults = errors.filter(({ facts }) => facts.param === name)
  return {
    faults: faults.map(refusalInWords),
    isFirst: faults[0] !== undefined && faults[0] === errors[0],
    /** Screen readers announce it where it stands, because no summary says it. */
    role: errors.length === 1 ? ('alert' as const) : undefined,
  }
}

/** The IDs of the faults of a field. */
const faultId = (id: string, index: number): string => (index === 0 ? `${id}-fault` : `${id}-fault-${index + 1}`)

type LabelledProps = {
  readonly label: ComponentChildren
  readonly name: string
  /** Unique on the page; the name by default. */
  readonly id?: string
  readonly hint?: string
  /** Why the form was refused, where the form itself does not know; shown here when it is about this field. */
  readonly error?: FormErrors
}

type FieldProps = LabelledProps & {
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

type Shared = {
  readonly id: string
  readonly name: string
  readonly autofocus: boolean | undefined
  readonly 'aria-describedby': string | undefined
  readonly 'aria-invalid': 'true' | undefined
}

type Attributes = Omit<InputRules, 'type'> & { readonly autocapitalize?: 'none' } & Shared

/** One line for each type, because the allowed attributes depend on the type. */
const inputs = {
  text: (attributes: Attributes) => <input type="text" {...attributes} />,
  email: (attributes: Attributes) => <input type="email" {...attributes} />,
  password: (attributes: Attributes) => <input type="password" {...attributes} />,
  number: (attributes: Attributes) => <input type="number" {...attributes} />,
  url: (attributes: Attributes) => <input type="url" {...attributes} />,
  search: (attributes: Attributes) => <input type="search" {...attributes} />,
  date: (attributes: Attributes) => <input type="date" {...attributes} />,
} as const

type LabelledControlProps = LabelledProps & { readonly control: (shared: Shared) => ComponentChildren }

/** A control with its label. Screen readers read its hint and its error with it (WCAG 1.3.1, 3.3.1). */
export const Labelled = ({ label, name, id = name, hint, error, control }: LabelledControlProps) => {
  const { faults, isFirst, role } = useFaults(name, error)
  const described = [...(hint === undefined ? [] : [`${id}-hint`]), ...faults.map((_, index) => faultId(id, index))]
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {control({
        id,
        name,
        autofocus: isFirst || undefined,
        'aria-describedby': described.length === 0 ? undefined : described.join(' '),
        'aria-invalid': faults.length === 0 ? undefined : 'true',
      })}
      {hint === undefined ? null : <small id={`${id}-hint`}>{hint}</small>}
      {faults.map((fault, index) => (
        <small id={faultId(id, index)} class="fault" role={role}>
          {fault}
        </small>
      ))}
    </div>
  )
}

/** A field for text. */
export const Field = ({ rows, input: { type = 'text', ...given } = {}, ...labelled }: FieldProps) => {
  const [kept] = useKept(labelled.name)
  // Phones begin what looks like prose with a capital letter.
  const written = given.spellcheck === false ? { ...given, autocapitalize: 'none' as const } : given
  const rules = kept === undefined || type === 'password' ? written : { ...written, value: kept }
  return (
    <Labelled
      {...labelled}
      control={(shared) =>
        rows === undefined ? inputs[type]({ ...rules, ...shared }) : <textarea rows={rows} {...rules} {...shared} />
      }
    />
  )
}

/** What was typed into the field before the session ended; nothing in any other form. */
const useKept = (name: string): readonly string[] => {
  const value = useContext(FormState).values?.[name]
  return typeof value === 'string' ? [value] : (value ?? [])
}

type SelectFieldProps = LabelledProps & {
  readonly options: readonly (readonly [value: string, words: string])[]
  readonly value?: string
}

/** One of several values. */
export const SelectField = ({ options, value, ...labelled }: SelectFieldProps) => {
  const [kept = value] = useKept(labelled.name)
  return (
    <Labelled
      {...labelled}
      control={(shared) => (
        <select {...shared}>
          {options.map(([of, words]) => (
            <option key={of} value={of} selected={of === kept}>
              {words}
            </option>
          ))}
        </select>
      )}
    />
  )
}

/**
 * Why the form below was refused. Screen readers announce it. A single fault of a field stands at the field alone (`page.ts`), and here
 * only if no field of the page says it.
 */
export const Problem = ({ error }: { readonly error: FormErrors }) => {
  const [first, ...others] = listOf(error)
  if (first === undefined) return null
  if (others.length === 0) {
    return (
      <p
        class={isAboutNoField(first) ? 'problem' : ofOneField}
        role="alert"
        tabIndex={-1}
        autofocus={isAboutNoField(first) || undefined}
      >
        {refusalInWords(first)}
        <RightAddress error={first} />
      </p>
    )
  }
  return (
    <div class="problem" role="alert">
      <p>Correct these {others.length + 1} things:</p>
      <ul>
        {[first, ...others].map(({ message }) => (
          <li>{message}</li>
        ))}
      </ul>
    </div>
  )
}

/** Where to open a page that was opened at another address of this server: follows a sentence. */
export const RightAddress = ({ error: { facts } }: { readonly error: PlatformError }) => {
  const openAt = facts.details?.['openAt']
  return typeof openAt === 'string' ? (
    <>
      {' '}
      <a href={openAt}>Open it at {new URL(openAt).origin}</a>
    </>
  ) : null
}

/** Without a field, the focus goes to the sentence itself. */
const isAboutNoField = ({ facts }: PlatformError): boolean => facts.param === undefined

type ChoiceSetProps = {
  readonly legend: string
  readonly name: string
  readonly error?: FormErrors
  readonly children: ComponentChildren
}

/** A group of choices, with the error that is about them. */
export const ChoiceSet = ({ legend, name, error, children }: ChoiceSetProps) => {
  const {
    faults: [fault = null],
    isFirst,
    role,
  } = useFaults(name, error)
  return (
    <fieldset
      class="scopes"
      tabIndex={isFirst ? -1 : undefined}
      autofocus={isFirst || undefined}
      aria-describedby={fault === null ? undefined : `${name}-fault`}
    >
      <legend>{legend}</legend>
      {fault === null ? null : (
        <p id={`${name}-fault`} class="fault" role={role}>
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
  const isKept = useContext(FormState).values !== null
  const kept = useKept(name)
  const shared = {
    id,
    name,
    value,
    checked: isKept ? kept.includes(value) : checked,
    'aria-describedby': `about-${id}`,
  }
  return (
    <div class="scope">
      {type === 'checkbox' ? <input type="checkbox" {...shared} /> : <input type="radio" {...shared} />}
      <label for={id}>{children}</label>
      <small id={`about-${id}`}>{about}</small>
    </div>
  )
}

type ChoiceListProps = Pick<ChoiceProps, 'name'> & {
  readonly type?: ChoiceProps['type']
  readonly options: readonly (readonly [value: string, label: ComponentChildren, about: ComponentChildren])[]
  readonly chosen: readonly string[]
}

/** Choices of a group, one below the other. */
export const ChoiceList = ({ type = 'checkbox', name, options, chosen }: ChoiceListProps) => (
  <>
    {options.map(([value, label, about]) => (
      <Choice key={value} type={type} name={name} value={value} checked={chosen.includes(value)} about={about}>
        {label}
      </Choice>
    ))}
  </>
)

/** What a field of a form shows; its schema carries it. */
type Shown = Omit<FieldProps, 'name'> & { readonly label: string }

type Rules = NonNullable<FieldProps['input']> & Pick<Shown, 'hint' | 'rows'>

/** A required line of text with its label. */
export const line = (label: string, { hint, rows, ...input }: Rules = {}): TString => {
  const shown: Shown = {
    label,
    ...(hint === undefined ? {} : { hint }),
    ...(rows === undefined ? {} : { rows }),
    input: { required: true, maxLength: 200, autocomplete: 'off', ...input },
  }
  return Type.String({ shown })
}

export const email = (label: string, rules: Rules = {}): TString =>
  line(label, { type: 'email', maxLength: 254, ...rules })

type PasswordFieldProps = { readonly label: string; readonly name: string }

/** The password that somebody has. Browsers fill it in. */
export const PasswordField = (labelled: PasswordFieldProps) => (
  <Field
    {...labelled}
    input={{ type: 'password', autocomplete: 'current-password', required: true, maxLength: 1024 }}
  />
)

type FieldsProps = {
  readonly of: { readonly schema: { readonly properties: TProperties } }
  readonly values?: Readonly<Record<string, string>>
}

/** The fields of a form that have a label, in their order. */
export const Fields = ({ of: { schema }, values = {} }: FieldsProps) => (
  <>
    {Object.entries(schema.properties).map(([name, property]) => {
      const shown: Shown | undefined = property['shown']
      const value = values[name]
      return shown === undefined ? null : (
        <Field key={name} {...shown} name={name} input={{ ...shown.input, ...(value !== undefined && { value }) }} />
      )
    })}
  </>
)

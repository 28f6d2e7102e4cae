import type { ComponentChildren } from 'preact'
import { agoInWords } from '../words.ts'
import { LinkButton } from './form.tsx'

type TimeProps = {
  readonly at: number | null
  /** Shown without a time. */
  readonly otherwise?: string
}

/** A time (epoch milliseconds) in UTC; the script shows it in the reader's own time zone. */
export const Time = ({ at, otherwise = '' }: TimeProps) => {
  if (at === null) return <>{otherwise}</>
  const iso = new Date(at).toISOString()
  return <time dateTime={iso}>{`${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`}</time>
}

/** How long ago something was. The exact time is the title; the script shows it in the reader's own time zone. */
export const Ago = ({ at, now }: { readonly at: number; readonly now: number }) => {
  const iso = new Date(at).toISOString()
  return (
    <time dateTime={iso} title={`${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`} data-ago="">
      {agoInWords(at, now)}
    </time>
  )
}

/** When something happened, as a fact of a row: `Created 4 Dec 2026`. */
export const TimeFact = ({ words, at }: { readonly words: string; readonly at: number }) => (
  <>
    {words} <Time at={at} />
  </>
)

/** When a secret was last used, as a fact of a row. */
export const LastUsed = ({ at, never = 'Never used' }: { readonly at: number | null; readonly never?: string }) =>
  at === null ? <>{never}</> : <TimeFact words="Last used" at={at} />

/** A name that somebody chose, inside a sentence of ours. */
export const ChosenName = ({ name }: { readonly name: string }) => (
  <strong>
    <bdi>{name}</bdi>
  </strong>
)

/** Several lines in one cell or value. A line that is null is left out. */
export const Lines = ({ of }: { readonly of: readonly ComponentChildren[] }) => (
  <>
    {of
      .filter((line) => line !== null)
      .map((line, index) => (
        <>
          {index === 0 ? null : <br />}
          {line}
        </>
      ))}
  </>
)

/** Short facts in one line, with dots between them that the style sheet draws. A fact that is null is left out. */
export const Dotted = ({ of }: { readonly of: readonly ComponentChildren[] }) => (
  <p class="row-facts dotted">
    {of
      .filter((fact) => fact !== null)
      .map((fact) => (
        <>
          <span>{fact}</span>{' '}
        </>
      ))}
  </p>
)

/** Names with their values. A value that is null is left out together with its name. */
export const Facts = ({ of }: { readonly of: Readonly<Record<string, ComponentChildren>> }) => (
  <dl>
    {Object.entries(of).map(([name, value]) =>
      value === null ? null : (
        <>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </>
      ),
    )}
  </dl>
)

type SecretProps = { readonly label: string; readonly value: string; readonly hint?: string }

/** A secret that is shown once. It is in an input so that it can be selected as a whole without the script. */
const Secret = ({ label, value, hint = onlyHash }: SecretProps) => (
  <div class="secret">
    <label for="secret">{label}</label>
    <div class="beside">
      <input id="secret" type="text" readOnly value={value} autocomplete="off" spellcheck={false} />
      <button type="button" data-copy="secret" hidden>
        Copy
      </button>
    </div>
    <small>{hint}</small>
  </div>
)

const onlyHash = 'Copy it now. Only its hash is stored, so it cannot be shown again.'

type ShownOnceProps = Omit<SecretProps, 'value'> & {
  /** Null when it was shown before. */
  readonly value: string | null
  readonly what: 'secret' | 'link' | 'key'
  /** What to do without it. */
  readonly advice: string
  readonly back: { readonly href: string; readonly name: string }
  /** What it is for. */
  readonly children?: ComponentChildren
}

/** The content of a page that shows a new secret once, and the way on from there. */
export const ShownOnce = ({ value, what, advice, back, children, ...secret }: ShownOnceProps) => (
  <>
    {value === null ? (
      <p>
        There is no new {what} to show. A {what} is shown once, right after it is created. If you did not copy it,{' '}
        {advice}.
      </p>
    ) : (
      <>
        {children}
        <Secret {...secret} value={value} />
      </>
    )}
    <p>
      <LinkButton href={back.href}>
        {value === null ? `Go to ${back.name}` : `I have copied it: go to ${back.name}`}
      </LinkButton>
    </p>
  </>
)

type CopyableProps = { readonly id: string; readonly value: string; readonly what: string }

/** A value with a copy button, which the script shows when the browser can copy. */
export const Copyable = ({ id, value, what }: CopyableProps) => (
  <span class="copyable">
    <code id={id}>{value}</code>{' '}
    <button type="button" class="small" data-copy={id} aria-label={`Copy ${what}`} hidden>
      Copy
    </button>
  </span>
)

type CodeBlockProps = { readonly id: string; readonly label: string; readonly code: string }

/** Lines of code with a copy button. Wide lines scroll inside the block, also by keyboard. */
export const CodeBlock = ({ id, label, code }: CodeBlockProps) => (
  <div class="code-block">
    <pre tabIndex={0} role="region" aria-label={label}>
      <code id={id}>{code}</code>
    </pre>
    <button type="button" class="small" data-copy={id} aria-label={`Copy: ${label}`} hidden>
      Copy
    </button>
  </div>
)

type DetailsProps = {
  readonly summary: ComponentChildren
  readonly open?: boolean
  readonly children: ComponentChildren
}

/** What few people need, behind a line that opens it. Works without JavaScript. */
export const Details = ({ summary, open = false, children }: DetailsProps) => (
  <details class="more" open={open}>
    <summary>{summary}</summary>
    <div class="more-body">{children}</div>
  </details>
)

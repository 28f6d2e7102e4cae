import type { VNode } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { turn } from '../../domain/awaitable.ts'
import { isJsonObject, type JsonObject } from '../../http/openapi-schema.ts'
import { Table } from '../design/table.tsx'
import { CodeBlock, Details } from '../design/values.tsx'
import { type DocsGroup, docsMarkup, Method } from './docs-frame.tsx'
import { InlineMarkdown } from './markdown.tsx'

type Reader = ReturnType<typeof readerOf>
type Part = { readonly reader: Reader; readonly schemes: JsonObject; readonly tryAt: string }

/**
 * The API reference as markup, made once from the OpenAPI document. `tryAt` is the page that sends calls. It has some hundred calls, so
 * other requests have their turn after each.
 */
export const referenceMarkup = async (document: JsonObject, tryAt: string): Promise<string> => {
  const part = {
    reader: readerOf(document),
    schemes: objectIn(objectIn(document, 'components'), 'securitySchemes'),
    tryAt,
  }
  const calls = operationsIn(objectIn(document, 'paths'))
  const events = operationsIn(objectIn(document, 'webhooks'))
  const areas = objectsIn(document, 'tags').flatMap((tag) => {
    const name = textIn(tag, 'name')
    const own = calls.filter(({ of }) => listIn(of, 'tags').includes(name))
    return own.length === 0 ? [] : [{ name, about: textIn(tag, 'description'), calls: own }]
  })
  const groups: readonly DocsGroup[] = [
    ...areas.map(({ name, calls: own }) => ({
      name,
      links: own.map(({ id, method, of }) => ({ href: `#${id}`, name: textIn(of, 'summary'), method })),
    })),
    { name: 'Events', links: events.map(({ id, path }) => ({ href: `#${id}`, name: path })) },
    { name: 'Errors', links: [{ href: '#errors', name: 'The body of every error' }] },
  ]
  const parts: string[] = []
  const add = async (content: VNode): Promise<void> => {
    parts.push(renderToString(content))
    await turn()
  }
  await add(<p>{textIn(objectIn(document, 'info'), 'description')}</p>)
  for (const { name, about, calls: own } of areas) {
    await add(
      <>
        <h2>{name}</h2>
        <p>{about}</p>
      </>,
    )
    for (const call of own) await add(<Call {...part} call={call} />)
  }
  await add(
    <>
      <h2>Events</h2>
      <p>The server sends them to webhook endpoints, signed, each as a POST with a body in JSON.</p>
    </>,
  )
  for (const event of events) await add(<Event {...part} event={event} />)
  await add(
    <>
      <h2 id="errors">Errors</h2>
      <p>
        Every error has the same body. The guide{' '}
        <a href="/docs/guides/errors">lists the codes, with what to do about each</a>.
      </p>
      <Fields
        label="The body of an error"
        fields={part.reader.fieldsOf({ $ref: '#/components/schemas/Error' })}
        absent="may be absent"
      />
    </>,
  )
  return docsMarkup({ label: 'API reference', groups, current: '', body: parts.join('') })
}

const Title = ({ id, children }: { readonly id: string; readonly children: preact.ComponentChildren }) => (
  <h3 id={id}>
    <a class="anchor" href={`#${id}`}>
      {children}
    </a>
  </h3>
)

type CallProps = Part & { readonly call: DocumentedCall }

const Call = ({ call, ...part }: CallProps) => {
  const { reader, tryAt } = part
  const { id, method, path, of } = call
  const summary = textIn(of, 'summary')
  const tag = encodeURIComponent(String(listIn(of, 'tags')[0]))
  const parameters = objectsIn(of, 'parameters').map(reader.resolved)
  return (
    <div class="call">
      <Title id={id}>{summary}</Title>
      <p class="beside">
        <Method of={method} />
        <code>{path}</code>
        <a href={`${tryAt}#/${tag}/${id}`}>Try it</a>
      </p>
      {/* The codes that it ends with are listed below. */}
      <p>
        <InlineMarkdown text={textIn(of, 'description').replace(/ ?Errors: 4.*$/s, '')} />
      </p>
      <h4>Who may call it</h4>
      <Callers {...part} call={call} />
      {parameters.length === 0 ? null : (
        <>
          <h4>Parameters</h4>
          <Fields
            label={`Parameters: ${id}`}
            fields={parameters.map((parameter) => ({
              name: textIn(parameter, 'name'),
              type: `${textIn(parameter, 'in')}: ${reader.typeOf(objectIn(parameter, 'schema'))}`,
              isRequired: parameter['required'] === true,
              about: textIn(parameter, 'description'),
            }))}
            absent="optional"
          />
        </>
      )}
      <Content {...part} of={objectIn(of, 'requestBody')} title="Body" id={`${id}-body`} absent="optional" />
      {Object.entries(objectIn(of, 'responses'))
        .filter(([status]) => /^[123]/.test(status))
        .map(([status, answer]) => {
          const given = isJsonObject(answer) ? reader.resolved(answer) : {}
          return (
            <>
              <h4>Answer {status}</h4>
              <p>
                <InlineMarkdown text={textIn(given, 'description')} />
              </p>
              <Content {...part} of={given} title={null} id={`${id}-${status}`} absent="may be absent" />
            </>
          )
        })}
      <Errors of={id} codes={objectIn(of, 'x-error-codes')} />
    </div>
  )
}

const Callers = ({ schemes, call: { of } }: CallProps) => {
  const ways = objectsIn(of, 'security').flatMap((way) => Object.entries(way))
  if (ways.length === 0) return <p>Everybody. It needs no token.</p>
  return (
    <ul>
      {ways.map(([name]) => (
        <li>
          <InlineMarkdown text={textIn(objectIn(schemes, name), 'description').replace(/ To try it here.*$/s, '')} />
        </li>
      ))}
    </ul>
  )
}

type ContentProps = Part & {
  readonly of: JsonObject
  readonly title: string | null
  readonly id: string
  readonly absent: string
}

/** The body of a request or an answer: its fields, and an example. */
const Content = ({ reader, of, title, id, absent }: ContentProps) => (
  <>
    {Object.entries(objectIn(of, 'content')).map(([media, content]) => {
      if (!isJsonObject(content)) return null
      const schema = objectIn(content, 'schema')
      const example = objectIn(objectIn(content, 'examples'), 'whole')['value'] ?? content['example']
      return (
        <>
          {title === null ? null : <h4>{title}</h4>}
          {media === 'application/json' ? null : (
            <p>
              As <code>{media}</code>.
            </p>
          )}
          {reader.shapesOf(schema).map((shape, at) => (
            <Fields label={`Fields: ${[id, at + 1].join(' ')}`} fields={reader.fieldsOf(shape)} absent={absent} />
          ))}
          {example === undefined ? null : (
            <Details summary="Example">
              <CodeBlock
                id={id}
                label={`Example: ${id}`}
                code={typeof example === 'string' ? example : JSON.stringify(example, null, 2)}
              />
            </Details>
          )}
        </>
      )
    })}
  </>
)

type FieldsProps = { readonly label: string; readonly fields: readonly SchemaField[]; readonly absent: string }

const Fields = ({ label, fields, absent }: FieldsProps) =>
  fields.length === 0 ? null : (
    <Table
      label={label}
      rows={fields}
      class="prose"
      columns={{
        Name: ({ name }) => <code>{name}</code>,
        Type: ({ type, isRequired }) => <span class="muted">{isRequired ? type : `${type}; ${absent}`}</span>,
        'What it is': ({ about }) => (about === '' ? null : <InlineMarkdown text={about} />),
      }}
    />
  )

const Errors = ({ of, codes }: { readonly of: string; readonly codes: JsonObject }) => (
  <Details summary="Errors">
    <Table
      label={`Errors: ${of}`}
      rows={Object.keys(codes)}
      class="prose"
      columns={{
        Status: (status) => status,
        Codes: (status) => <span>{listIn(codes, status).map((code) => [<code>{String(code)}</code>, ' '])}</span>,
      }}
    />
  </Details>
)

const Event = ({ event: { id, path, of }, ...part }: Part & { readonly event: DocumentedCall }) => (
  <div class="call">
    <Title id={id}>
      <code>{path}</code>
    </Title>
    <p>
      <InlineMarkdown text={textIn(of, 'summary')} />
    </p>
    <Content {...part} of={objectIn(of, 'requestBody')} title={null} id={`${id}-body`} absent="may be absent" />
  </div>
)

// Reads an OpenAPI document of our own: the fields of its schemas, in words.

export const objectIn = (of: JsonObject, key: string): JsonObject => {
  const value = of[key]
  return isJsonObject(value) ? value : {}
}
export const listIn = (of: JsonObject, key: string): readonly unknown[] => {
  const value = of[key]
  return Array.isArray(value) ? value : []
}
const objectsIn = (of: JsonObject, key: string): readonly JsonObject[] => listIn(of, key).filter(isJsonObject)
export const textIn = (of: JsonObject, key: string): string => {
  const value = of[key]
  return typeof value === 'string' ? value : ''
}

type SchemaField = {
  /** With the names of the objects that it is in, such as `rejection.items[].path`. */
  readonly name: string
  readonly type: string
  readonly isRequired: boolean
  readonly about: string
}

/** What a document says, with its references followed. */
export const readerOf = (document: JsonObject) => {
  const resolved = (of: JsonObject): JsonObject => {
    const { $ref: reference, ...own } = of
    if (typeof reference !== 'string') return of
    const target = reference.slice('#/'.length).split('/').reduce(objectIn, document)
    return { ...resolved(target), ...own }
  }

  const typeOf = (schema: JsonObject): string => {
    const of = resolved(schema)
    if ('const' in of) return String(of['const'])
    if ('enum' in of) return `one of ${listIn(of, 'enum').join(', ')}`
    if ('anyOf' in of) return [...new Set(objectsIn(of, 'anyOf').map(typeOf))].join(' or ')
    if (of['type'] === 'array') return `list of ${typeOf(objectIn(of, 'items'))}`
    return typeNames[textIn(of, 'type')] ?? 'any'
  }

  /** The object behind a field: in a list, or beside null. */
  const objectOf = (schema: JsonObject): { readonly mark: string; readonly of: JsonObject } => {
    const of = resolved(schema)
    if (of['type'] === 'array') {
      const inner = objectOf(objectIn(of, 'items'))
      return { mark: `[]${inner.mark}`, of: inner.of }
    }
    const first = objectsIn(of, 'anyOf').find((one) => resolved(one)['type'] !== 'null')
    return first === undefined ? { mark: '', of } : objectOf(first)
  }

  const fieldsOf = (schema: JsonObject, before = '', depth = 0): readonly SchemaField[] => {
    const of = resolved(schema)
    const required = listIn(of, 'required')
    return Object.entries(objectIn(of, 'properties')).flatMap(([key, property]) => {
      if (!isJsonObject(property)) return []
      const name = before + key
      const { mark, of: inner } = objectOf(property)
      const about = textIn(resolved(property), 'description')
      const field: SchemaField = { name, type: typeOf(property), isRequired: required.includes(key), about }
      return depth < deepest ? [field].concat(fieldsOf(inner, `${name}${mark}.`, depth + 1)) : [field]
    })
  }

  /** The shapes that a body may have: several where the schema offers a choice. */
  const shapesOf = (schema: JsonObject): readonly JsonObject[] => {
    const choices = objectsIn(resolved(schema), 'anyOf').map(resolved)
    return choices.length === 0 ? [objectOf(schema).of] : choices.filter((one) => one['type'] !== 'null')
  }

  return { resolved, typeOf, fieldsOf, shapesOf }
}

const deepest = 4
const typeNames: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'whole number',
  number: 'number',
  boolean: 'true or false',
  object: 'object',
  null: 'null',
}

type DocumentedCall = {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly of: JsonObject
}

/** Every call, or every event, of a part of the document. */
const operationsIn = (paths: JsonObject): readonly DocumentedCall[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    isJsonObject(methods)
      ? Object.entries(methods).flatMap(([method, of]) =>
          isJsonObject(of) ? [{ id: textIn(of, 'operationId'), method, path, of }] : [],
        )
      : [],
  )

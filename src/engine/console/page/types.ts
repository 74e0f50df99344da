import type { Attributes, TargetedEvent, VNode } from 'preact'
import type { Answers, Sample, Status } from '../answers.ts'
import type { ShownEvent } from '../event-answers.ts'

/** What is asked for at a path. Nothing is known of what a service itself answers. */
export type AnswerTo<Path extends string> = Path extends 'openapi.json'
  ? OpenApi
  : Path extends `console/api/${infer Route extends keyof Answers}`
    ? Answers[Route]
    : unknown

/** What a page can show. */
export type Child = VNode | string | number | boolean | null | undefined | readonly Child[]

/** Templates have no type for what a component is given: so none may stand in them, and `h` takes it. */
export type Html = (strings: TemplateStringsArray, ...values: readonly (Child | Handler | Ref)[]) => VNode | VNode[]
type Handler = (event: never) => void | Promise<void>
type Ref = { readonly current: unknown }

export type H = <Props>(
  component: (props: Props) => Child,
  props: NoInfer<Props> & Attributes,
  ...children: readonly Child[]
) => VNode

export type Submitted = TargetedEvent<HTMLFormElement, SubmitEvent>
export type Chosen = TargetedEvent<HTMLSelectElement | HTMLInputElement>
export type Entered = TargetedEvent<HTMLFormElement>

/** What each page is given. */
export interface PageProps {
  readonly status: Status
  readonly mayOperate: boolean
  readonly path: readonly string[]
  /** What stands behind a `?` in the address. */
  readonly query: string
}

/** A line of a plot. Where nothing was sampled, a sample has its time only. */
export interface Line {
  readonly name: string
  readonly of: (sample: Plotted) => number | undefined
}
export type Plotted = Pick<Sample, 'at'> & Partial<Sample>

export interface EventList {
  readonly blocks: readonly EventBlock[]
  readonly after: string
  readonly leftOut: number
  readonly isCut: boolean
}
export interface EventBlock {
  readonly events: readonly ShownEvent[]
  readonly before: string | null
}

/** As far as the pages read it. */
export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Partial<Record<'post' | 'patch' | 'delete', Operation>>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}
interface Operation {
  readonly summary: string
  readonly requestBody?: { readonly content: { readonly 'application/json'?: { readonly schema?: Schema } } }
}
export interface Schema {
  readonly $ref?: string | undefined
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly enum?: readonly string[]
  readonly anyOf?: readonly { readonly const?: string }[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
}
/** Follows the references of the document. */
export type SchemaOf = (schema: Schema) => Schema

export interface Command extends Operation {
  readonly path: string
  readonly method: string
}

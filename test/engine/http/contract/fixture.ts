import type { LightMyRequestResponse } from 'fastify'
import { expect } from 'vitest'
import { exampleOf } from '../../../../src/engine/definition/body-example.ts'
import type { Definition } from '../../../../src/engine/definition/definition.ts'
import { valuesOf } from '../../../../src/engine/definition/filter-values.ts'
import type { CommandRoute } from '../../../../src/engine/door/command.ts'
import { testServer } from '../test-services.ts'

/** A request that is answered with success once there is what it needs, made of the examples of the service. */
export interface Sent {
  readonly name: string
  readonly method: 'GET' | CommandRoute<unknown>['method']
  readonly url: string
  readonly body: Readonly<Record<string, unknown>> | undefined
  readonly scope: string
}

export interface SentCommand extends Sent {
  readonly route: CommandRoute<unknown>
  /** What it creates, or is about. */
  readonly resource: Shown
  /** The collection of which there has to be a document: for one that creates, that of the command before it. */
  readonly needs: string | undefined
}

export type Shown = ReturnType<typeof shownOf>
export type Contracted = ReturnType<typeof contracted>
export type Answer = LightMyRequestResponse
export type Headers = Record<string, string>

/** A service, and what can be asked of it: its first commands create document 1, 2 and so on, a collection each, in one stream a kind. */
export function contracted(definition: Definition) {
  const server = testServer(definition)
  const created = definition.commands.flatMap(({ creates }) => creates ?? [])
  const resources = definition.resources.map((each) => shownOf(each, created.indexOf(each.collection) + 1))
  const resourceOf = (collection: string) =>
    resources.find((each) => each.collection === collection) ?? expect.fail(`there is no ${collection}`)

  const commands = definition.commands.map((route): SentCommand => {
    const { method, path, on, creates, scope, kind } = route
    const about = typeof on === 'object' && 'document' in on ? on.document : undefined
    const resource = resourceOf(creates ?? about ?? kind.home.collection)
    const url = path.replace(/:\w+/, String(resource.id))
    // Before it all is created that has a lower id.
    const needs = creates === undefined ? (about ?? kind.home.collection) : created[created.indexOf(creates) - 1]
    return { name: `${method} ${url}`, method, url, body: bodyOf(route), scope, route, resource, needs }
  })
  const reads = [
    ...resources.flatMap(({ list, one, history = [], count = [] }) =>
      [list, `${list}?id=1`, one, history, count].flat(),
    ),
  ].map((url): Sent => ({ name: `GET ${url}`, method: 'GET', url, body: undefined, scope: 'read' }))

  const send = ({ method, url, body }: Sent, headers: Headers = {}) => server.send(method, url, body, headers)
  const get = (url: string, headers?: Headers) => server.get(url, headers)
  /** Sends the commands that create something, up to the one that creates one of the collection. */
  async function given(collection: string | undefined): Promise<void> {
    const last = collection === undefined ? 0 : created.indexOf(collection) + 1
    for (const command of commands.filter(({ route }) => route.creates !== undefined).slice(0, last))
      expect([command.name, (await send(command)).statusCode]).toEqual([command.name, 201])
  }
  const givenAll = () => given(created.at(-1))
  /** The events so far of streams of the kind that the resource is. */
  const eventsOf = ({ collection }: Shown) =>
    server.services.events.filter(
      (type) => definition.kinds.find(({ home }) => home.collection === collection)?.stream.events[type],
    )
  const creating = commands.filter(({ route }) => route.creates !== undefined)
  const changing = commands.filter(({ method }) => method === 'PATCH')
  const removing = commands.filter(({ method }) => method === 'DELETE')
  const operations: readonly Sent[] = [...reads, ...commands]
  return {
    definition,
    server,
    resources,
    commands,
    creating,
    changing,
    removing,
    operations,
    get,
    send,
    given,
    givenAll,
    eventsOf,
  }
}

/** About stream 1, where it says which one. */
function bodyOf({ body, on }: CommandRoute<unknown>): Sent['body'] {
  if (body === undefined) return undefined
  const [whole] = (body as { readonly examples?: readonly object[] }).examples ?? []
  const example = whole ?? exampleOf(body)
  const stream = typeof on === 'object' && 'stream' in on ? on.stream(example) : Number.NaN
  return Object.fromEntries(Object.entries(example).map(([name, value]) => [name, value === stream ? 1 : value]))
}

function shownOf(resource: Definition['resources'][number], id: number) {
  const { collection, noun, idName, path, find, filters = {} } = resource
  const [filter = '', values] = Object.entries(filters)[0] ?? []
  return {
    ...{ collection, noun, idName, id, find },
    ...{ filter, values: values === undefined ? [] : valuesOf(values).map(String) },
    list: path,
    one: `${path}/${id}`,
    history: resource.history && `${path}/${id}/events`,
    count: resource.count?.path,
    notFound: `${noun}_not_found`,
  }
}

/** The address of the next page. */
export function nextOf({ headers: { link } }: Answer): string | undefined {
  return /^<([^>]+)>; rel="next"$/.exec(String(link ?? ''))?.[1]
}

import type { Definition } from '../definition/definition.ts'

/** How an operation is asked for. */
export interface Operation {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** With the name of the document in it, as `:bookId`, where it is about one. */
  readonly path: string
}

/** Each by its operationId. The feed is none of them: it has no end. */
export function operationsOf({ resources, commands }: Definition): ReadonlyMap<string, Operation> {
  const operations = new Map<string, Operation>()
  const add = (operationId: string | undefined, path: string, method: Operation['method'] = 'GET') => {
    if (operationId !== undefined) operations.set(operationId, { method, path })
  }
  for (const { path, idName, list, find, history, count } of resources) {
    add(list.operationId, path)
    if (count !== undefined) add(count.operationId, count.path)
    add(find.operationId, `${path}/:${idName}`)
    add(history?.operationId, `${path}/:${idName}/events`)
  }
  for (const { texts, path, method } of commands) add(texts.operationId, path, method)
  return operations
}

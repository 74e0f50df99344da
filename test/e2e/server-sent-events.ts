/** What stands between two blank lines of an event stream; undefined where it has no such field. */
export interface Block {
  readonly id: string | undefined
  readonly data: string | undefined
}

/** The blocks of an answer, as they come (WHATWG HTML section 9.2, in the form that the service sends). */
export async function* serverSentEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<Block> {
  let text = ''
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    const blocks = (text + chunk).split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) yield { id: textOf(block, 'id'), data: textOf(block, 'data') }
  }
}

function textOf(block: string, field: string): string | undefined {
  const lines = block.split('\n').filter((line) => line.startsWith(`${field}: `))
  return lines.length === 0 ? undefined : lines.map((line) => line.slice(field.length + 2)).join('\n')
}

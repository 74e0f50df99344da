import { ask } from './api.js'
import { Failure, figure, h, html, Table, Text, useAnswer } from './parts.js'

/**
 * What consumers read beside the log: how far it is, what is being filled, and what stands still. Nothing where nothing is
 * published.
 */
export function Published() {
  const { value, failure } = useAnswer(async () => (await ask('console/api/published')).value, [], 3000)
  if (failure === undefined && (value === undefined || value.length === 0)) return null
  return html`
    <h2>Published</h2>
    ${h(Failure, { of: failure })}
    ${(value ?? []).flatMap(({ problems }) => problems).map((problem) => html`<p class="bad">${h(Text, { of: problem })}</p>`)}
    ${h(Table, {
      ...{ label: 'Published', empty: 'Not known.' },
      titles: ['Topics', 'Told', 'Behind', 'Being filled', 'Streams that wait', 'Published by'],
      rows: (value ?? []).map(({ topics, told, lag, filling, waiting, owners }) => [
        h(Text, { of: topics.join(', ') }),
        figure(told),
        figure(lag),
        h(Text, { of: filling.length === 0 ? 'no' : filling.join('; ') }),
        figure(waiting),
        h(Text, { of: owners.length === 0 ? 'nobody' : owners.join(', ') }),
      ]),
    })}
  `
}

import type { Command } from 'commander'
import type { Definition } from '../definition/definition.ts'
import { type DescribedPublisher, describePublished, problemsOf, standingStill } from '../operations/published.ts'
import type { RunbookHeading } from '../operations/runbook.ts'
import { addAction, type CommandResult, exitCodes, inOneLine, table } from './output.ts'
import { withStorage } from './storage.ts'

const runbook: RunbookHeading = 'Publishing stands still'
const nothing =
  'Nothing is published: on Kafka it is with PUBLISH=events, and in embedded mode clients follow GET /v1/events.'

export function addCommands(program: Command, definition: Definition): void {
  const listing =
    'Show how far the published topics are, which process has each lane, and what stands still; exit code 1 then'
  addAction(program.command('published'), listing, () => show(definition))
}

/** Beside processes that publish: it takes no lane from them. */
async function show(definition: Definition): Promise<CommandResult> {
  const described = await withStorage(definition, async ({ log, openPublished }) => {
    const topics = openPublished()
    try {
      return await describePublished(log, topics)
    } finally {
      for (const each of topics) each.close()
    }
  })
  if (described.length === 0) return { json: [], text: nothing }
  if (described.some((each) => standingStill(each).length > 0)) process.exitCode = exitCodes.notAsItShouldBe
  return { json: described, text: textOf(described) }
}

export function textOf(described: readonly DescribedPublisher[]): string {
  const rows = described.flatMap(({ publisher, lanes }) =>
    lanes.flatMap(({ lane, owner, partitions }) =>
      partitions.map(({ partition, next, told, lag, waiting, failure }) => [
        ...[publisher, String(lane), owner === null ? 'nobody' : (owner ?? '?'), String(partition)],
        ...[next, told, lag, waiting].map(String),
        failure === undefined ? 'as it should be' : 'stands still',
      ]),
    ),
  )
  const columns = ['PUBLISHER', 'LANE', 'OWNER', 'PARTITION', 'POSITION', 'TOLD', 'LAG', 'WAITING', 'STATE']
  const topics = described.flatMap((each) => each.topics).join(', ')
  return [
    ...(rows.length > 0 ? [table(columns, rows)] : []),
    ...described.flatMap(linesOf).map(inOneLine),
    `To begin anew, stop the consumers and delete ${topics}: it comes back, from the first event of the log on.`,
  ].join('\n')
}

function linesOf(described: DescribedPublisher): readonly string[] {
  const isStill = standingStill(described).length > 0
  const problems = problemsOf(described).map((problem) => `${described.publisher}, ${problem}`)
  return [...problems, ...(isStill ? [`See '${runbook}' in the runbook.`] : [])]
}

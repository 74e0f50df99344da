import type { Command } from 'commander'
import type { Definition } from '../definition/definition.ts'
import type { PublisherName } from '../log/published-log.ts'
import {
  type DescribedPublisher,
  describePublished,
  fillingOf,
  problemsOf,
  standingStill,
} from '../operations/published.ts'
import type { RunbookHeading } from '../operations/runbook.ts'
import { addAction, type CommandResult, exitCodes, inOneLine, table } from './output.ts'
import { withStorage } from './storage.ts'

const runbook: RunbookHeading = 'Publishing stands still'
const nothing =
  'Nothing is published: on Kafka that is what PUBLISH=none asks for, and in embedded mode clients follow GET /v1/events.'
/** What becomes of deleted topics. */
const comesBack: Readonly<Record<PublisherName, string>> = {
  events: 'it comes back, from the first event of the log on.',
  documents:
    'they come back from the read models, with the same last values. What new projections no longer show is there until then.',
}

export function addCommands(program: Command, definition: Definition): void {
  const listing =
    'Show how far the published topics are, which process has each lane, what is being filled, and what stands still; exit code 1 then'
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
      partitions.map((each) => [
        ...[publisher, String(lane), owner === null ? 'nobody' : (owner ?? '?'), String(each.partition)],
        ...[each.next, each.told, each.lag, each.waiting].map(String),
        each.failure === undefined ? stateOf(fillingOf(publisher, each)) : 'stands still',
      ]),
    ),
  )
  const columns = ['PUBLISHER', 'LANE', 'OWNER', 'PARTITION', 'POSITION', 'TOLD', 'LAG', 'WAITING', 'STATE']
  return [
    ...(rows.length > 0 ? [table(columns, rows)] : []),
    ...described.flatMap(linesOf).map(inOneLine),
    ...described.map(
      ({ publisher, topics }) =>
        `To begin anew with ${publisher}, stop the consumers and delete ${topics.join(', ')}: ${comesBack[publisher]}`,
    ),
  ].join('\n')
}

function stateOf(filling: string | undefined): string {
  return filling === undefined ? 'as it should be' : `filling: ${filling}`
}

function linesOf(described: DescribedPublisher): readonly string[] {
  const isStill = standingStill(described).length > 0
  const problems = problemsOf(described).map((problem) => `${described.publisher}, ${problem}`)
  return [...problems, ...(isStill ? [`See '${runbook}' in the runbook.`] : [])]
}

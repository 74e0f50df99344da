import type { IdBlocks } from '../../../src/engine/commands/id-blocks.ts'

/** Blocks as the log gives them, which nobody looks at. */
export function unseenBlocks(log: { reserveIdBlock(): Promise<number> }): Pick<IdBlocks, 'reserve'> {
  return { reserve: () => ({ block: log.reserveIdBlock(), need() {} }) }
}

import { MemoryEventLog, MemoryLogData } from '../../../src/engine/testing/memory/memory-event-log.ts'
import { closedAfterTest } from '../log/contract/fixture.ts'
import { eventLogContract } from '../log/event-log.contract.ts'

/** What the log in memory promises where tests use it in place of an adapter. */
eventLogContract('the log in memory', async () => {
  const data = new MemoryLogData(3)
  const open = async () => closedAfterTest(new MemoryEventLog(data, ({ key }) => key === 'refused'))
  return {
    log: await open(),
    open,
    refused: { key: 'refused', value: '', headers: {} },
    appendForeign: async (record) => void data.add(0, [record]),
  }
})

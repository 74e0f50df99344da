import kafkajs, { type Admin, type PartitionAssigner } from 'kafkajs'
import { processName } from '../../lib/operating/process-name.ts'

// Node does not detect these names in the CommonJS module.
const { AssignerProtocol, PartitionAssigners } = kafkajs
const { MemberAssignment, MemberMetadata } = AssignerProtocol

/** The assigner that every release has. Beside the topics it tells the group the name of this process. */
export const assignerWithName: PartitionAssigner = (config) => {
  const assigner = PartitionAssigners.roundRobin(config)
  const userData = Buffer.from(processName)
  return {
    ...assigner,
    protocol: ({ topics }) => ({
      name: assigner.name,
      metadata: MemberMetadata.encode({ version: assigner.version, topics, userData }),
    }),
  }
}

/**
 * Who has each partition of a topic in a group. The process of an earlier release has no name; its address stands for it.
 */
export async function ownersIn(admin: Admin, group: string, topic: string): Promise<ReadonlyMap<number, string>> {
  await admin.describeCluster() // until then kafkajs knows no broker that it could ask
  const { groups } = await admin.describeGroups([group])
  const members = groups.flatMap((each) => each.members)
  const owned = members.flatMap(({ memberMetadata, memberAssignment, clientHost }) => {
    const name = String(MemberMetadata.decode(memberMetadata)?.userData ?? '') || clientHost.replace(/^\//, '')
    const partitions = MemberAssignment.decode(memberAssignment)?.assignment[topic] ?? []
    return partitions.map((partition) => [partition, name] as const)
  })
  return new Map(owned)
}

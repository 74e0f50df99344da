declare module 'cluster-key-slot' {
  /** The slot, 0..16383, that a Redis Cluster gives a key. */
  export default function slotOf(key: string): number
}

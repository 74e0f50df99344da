/** A bug as a person might write it, and the test that must fail with it. */
export interface PlantedBug {
  readonly name: string
  /** A file of the service. */
  readonly file: string
  /** Stands in the file once, and overlaps the text of no other bug. */
  readonly text: string
  readonly becomes: string
  readonly caughtBy: TestName
}

export interface TestName {
  readonly file: string
  /** As the test is reported, without what it is part of. */
  readonly title: string
}

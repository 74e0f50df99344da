import { type Level, pino } from 'pino'

/** A logger, and the lines that it has written, parsed. */
export function captureLog(level: Level = 'info') {
  const lines: Record<string, unknown>[] = []
  const logger = pino({ level, base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  return { logger, lines }
}

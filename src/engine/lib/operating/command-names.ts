/** The commands of every service, by the file of `cli/` that adds them. A service must have none of these names. */
export const commandNames = {
  start: ['start'],
  keys: ['keys'],
  readModels: ['generations', 'rebuild', 'verify', 'stats'],
  parked: ['parked'],
  published: ['published'],
  events: ['events'],
  streams: ['streams'],
  backup: ['backup'],
  doctor: ['doctor'],
  runbook: ['runbook'],
} as const

/** The scope of API keys that may change how the service runs. A key has it by name alone: not for having every other one. */
export const operatingScope = 'operate'

// Loaded before anything else (node -r): what Node makes of each source file is kept for the next process, beside the packages.
// Where that folder cannot be written, nothing is kept.
const { enableCompileCache } = require('node:module')
const { join } = require('node:path')

enableCompileCache(join(__dirname, '../node_modules/.cache/compiled'))

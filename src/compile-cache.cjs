// Loaded before anything else (node -r): what Node makes of each file is kept for the next process, beside the packages.
// Where that folder cannot be written, nothing is kept.
const { enableCompileCache, findPackageJSON } = require('node:module')
const { join } = require('node:path')

enableCompileCache(join(findPackageJSON('..', __filename), '../node_modules/.cache/compiled'))

#!/usr/bin/env node
// The command of the installed package. What it loads first may be too new for an old Node: that is told before.
require('./engine/node-version.cjs')
require('./engine/ends-when-told.cjs')
require('./compile-cache.cjs')
import('./cli.js')

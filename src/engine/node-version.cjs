// Loaded before anything else, so that an old Node says what is missing instead of how it fails.
const needed = [24, 16]
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < needed[0] || (major === needed[0] && minor < needed[1])) {
  process.stderr.write(
    `This is Node ${process.versions.node}, and Node ${needed.join('.')} or later is needed ` +
      `(npm ci in a clone installs one).\n`,
  )
  process.exit(1)
}

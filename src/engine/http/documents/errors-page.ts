import type { ErrorTable } from '../../door/errors.ts'
import type { ErrorFacts } from '../../lib/errors/engine-errors.ts'

/** The error table as a page, with an anchor for each code. */
export function errorsPage(title: string, errors: ErrorTable): string {
  const entries = [...errors].map(([code, { status, retry, effect, meaning }]) =>
    [
      `<dt id="${code}"><a href="#${code}"><code>${code}</code></a></dt>`,
      `<dd>${toHtml(meaning)}<br>Status ${status}. Retry: ${retryText(retry)}. Effect: ${effect}.</dd>`,
    ].join('\n'),
  )
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Errors of ${escapeHtml(title)}</title>
<link rel="stylesheet" href="static/page.css">
<link rel="icon" type="image/png" href="static/favicon-32x32.png">
</head>
<body class="errors-page">
<p><a href="../docs">Operations</a></p>
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

export function retryText(retry: ErrorFacts['retry']): string {
  return typeof retry === 'number' ? `yes, after ${retry} s` : retry
}

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** Markdown as meanings have it: text and code. */
function toHtml(markdown: string): string {
  return escapeHtml(markdown).replace(/`([^`]+)`/g, '<code>$1</code>')
}

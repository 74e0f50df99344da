/** Each error is one line with a link to what it means, in place of a schema and an example. */
function foldErrors({ React }) {
  const h = React.createElement
  function ErrorLine({ code, response }) {
    const errorCode = response.getIn(['content', 'application/json', 'example', 'code'])
    const link = h('a', { href: `docs/errors${errorCode ? `#${errorCode}` : ''}` }, errorCode ?? 'all codes')
    const text = h('td', { className: 'response-col_description' }, `${response.get('description')}: `, link)
    return h('tr', { className: 'response error-line' }, h('td', { className: 'response-col_status' }, code), text)
  }
  const isError = (code) => code === 'default' || Number(code) >= 400
  const fold = (Original) => (props) => h(isError(props.code) ? ErrorLine : Original, props)
  return { wrapComponents: { response: fold } }
}

/** Without a form of their own, ids in a list are looked for in vain, which the console says. They are typed as text. */
function typeIdsAsText({ React }) {
  const Int64 = (props) => React.createElement(props.getComponent('JsonSchema_string'), props)
  return { components: { JsonSchema_integer_int64: Int64 } }
}

/** The API is beside this page, whatever a proxy puts in front of both; the policy of the page allows no other place. */
function sendToNeighbour() {
  const servers = [{ url: new URL('v1', location.href).pathname }]
  const updateJsonSpec = (original) => (document) => original({ ...document, servers })
  return { statePlugins: { spec: { wrapActions: { updateJsonSpec } } } }
}

/** An answer without an end is for a terminal: nothing is sent, and what is shown is the command. */
function keepStreamsToTerminals(request) {
  if (request.headers?.accept !== 'text/event-stream') return request
  const error = new Error('Nothing was sent, since the answer has no end: follow it with the command above.')
  error.name = ''
  return { ...request, curlOptions: ['--no-buffer'], userFetch: () => Promise.reject(error) }
}

SwaggerUIBundle({
  url: new URL('openapi.json', location.href).href, // what the document links to is relative to it
  dom_id: '#swagger-ui',
  layout: 'BaseLayout', // the other layout applies an inline style
  deepLinking: true,
  displayRequestDuration: true,
  persistAuthorization: true,
  tryItOutEnabled: true,
  syntaxHighlight: { theme: 'obsidian' }, // the numbers of the default one are too dark
  validatorUrl: null, // else a badge is fetched from elsewhere
  requestInterceptor: keepStreamsToTerminals,
  plugins: [foldErrors, typeIdsAsText, sendToNeighbour],
})

const dark = matchMedia('(prefers-color-scheme: dark)')
const showTheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', showTheme)
showTheme()

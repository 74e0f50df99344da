/** Each error is one line with a link to what it means, in place of a schema and an example. */
function foldErrors({ React }) {
  const h = React.createElement
  function ErrorLine({ code, response }) {
    const errorCode = response.getIn(['content', 'application/json', 'example', 'code'])
    const link = h('a', { href: `/docs/errors${errorCode ? `#${errorCode}` : ''}` }, errorCode ?? 'all codes')
    const text = h('td', { className: 'response-col_description' }, `${response.get('description')}: `, link)
    return h('tr', { className: 'response error-line' }, h('td', { className: 'response-col_status' }, code), text)
  }
  const isError = (code) => code === 'default' || Number(code) >= 400
  const fold = (Original) => (props) => h(isError(props.code) ? ErrorLine : Original, props)
  return { wrapComponents: { response: fold } }
}

SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#swagger-ui',
  layout: 'BaseLayout', // the other layout applies an inline style
  deepLinking: true,
  displayRequestDuration: true,
  persistAuthorization: true,
  tryItOutEnabled: true,
  validatorUrl: null, // else a badge is fetched from elsewhere
  plugins: [foldErrors],
})

const dark = matchMedia('(prefers-color-scheme: dark)')
const showTheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', showTheme)
showTheme()

import { render } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ask, every, signIn, signOut } from './api.js'
import { Documents } from './documents.js'
import { Events } from './events.js'
import { Overview } from './overview.js'
import { Parked } from './parked.js'
import { Failure, Guarded, html, time } from './parts.js'
import { Pipeline } from './pipeline.js'

const pages = { overview: Overview, pipeline: Pipeline, events: Events, parked: Parked, documents: Documents }
const element = document.getElementById('console')
/** Longer than the service takes to find out that log or read models do not answer. */
const statusWithinMs = 2500

function App() {
  const [isSignedIn, setSignedIn] = useState(false)
  const [why, setWhy] = useState()
  function enter(key) {
    setWhy(undefined)
    signIn(key, (reason) => {
      setWhy(reason)
      setSignedIn(false)
    })
    setSignedIn(true)
  }
  return isSignedIn ? html`<${Console} />` : html`<${SignIn} why=${why} onEnter=${enter} />`
}

function SignIn({ why, onEnter }) {
  const field = useRef()
  useEffect(() => field.current.focus(), [])
  function submit(submitted) {
    submitted.preventDefault()
    onEnter(field.current.value.trim())
  }
  return html`<main class="sign-in">
    <h1>${element.dataset.title}</h1>
    <form onSubmit=${submit}>
      <label>API key <input ref=${field} type="password" required autocomplete="off" /></label>
      <button>Sign in</button>
    </form>
    ${why === undefined ? null : html`<p class="failure" role="alert">${why}</p>`}
    <p class="quiet">A key of scope read sees all of the console, and one of scope operate acts. It stays in the memory of this tab.</p>
  </main>`
}

function Console() {
  const { status, mayOperate, failure, failingSince } = useStatus()
  const [page, path] = usePage()
  const { [page]: Page } = pages
  const address = [page, ...path].join('/')
  return html`
    <header>
      <p class="title">${element.dataset.title}</p>
      <nav aria-label="Pages">
        ${Object.keys(pages).map((name) => html`<a href=${`#/${name}`} aria-current=${name === page ? 'page' : undefined}>${capitalised(name)}</a>`)}
      </nav>
      <button type="button" class="link" onClick=${() => signOut()}>Sign out</button>
    </header>
    <main>
      <h1>${capitalised(page)}</h1>
      ${failure === undefined ? null : html`<div class="outage"><${Failure} of=${failure} /><p>Since ${time(failingSince)}. This page goes on asking; what it shows is older.</p></div>`}
      ${status === undefined ? html`<p>${failure === undefined ? 'Asking …' : ''}</p>` : html`<${Guarded} key=${address}><${Page} status=${status} mayOperate=${mayOperate} path=${path} /><//>`}
    </main>
    <footer class="quiet">${status === undefined ? '' : `Process ${status.process.name}, role ${status.process.role}, release ${status.process.release}, started ${new Date(status.process.startedAt).toLocaleString()}`}</footer>
  `
}

/** Asked for every second: so a key that is no longer valid signs out, and what fails is said at once. */
function useStatus() {
  const [state, setState] = useState({})
  useEffect(
    () =>
      every(1000, async () => {
        try {
          const { value, headers } = await ask('console/api/status', { timeoutMs: statusWithinMs })
          setState({ status: value, mayOperate: headers.get('may-operate') === 'true' })
        } catch (failure) {
          setState((before) => ({ ...before, failure, failingSince: before.failingSince ?? Date.now() }))
        }
      }),
    [],
  )
  return state
}

/** The page that the address names, and what follows its name. */
function usePage() {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const follow = () => setHash(location.hash)
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
  const [name, ...path] = hash.slice('#/'.length).split('/').map(decoded)
  return [Object.hasOwn(pages, name) ? name : 'overview', path]
}

/** As it is where it is no encoded text: anybody can write an address. */
function decoded(part) {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

function capitalised(text) {
  return text[0].toUpperCase() + text.slice(1)
}

render(html`<${App} />`, element)

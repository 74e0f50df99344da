import { render } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ask, every, signIn, signOut } from './api.js'
import { Documents } from './documents.js'
import { Events } from './events.js'
import { Overview } from './overview.js'
import { Parked } from './parked.js'
import { Failure, Guarded, h, html, time } from './parts.js'
import { Pipeline } from './pipeline.js'

/**
 * @import { Status } from '../answers.ts'
 * @import { Child, PageProps, Submitted } from './types.ts'
 */

/** @type {Readonly<Record<string, (props: PageProps) => Child>>} */
const pages = { overview: Overview, pipeline: Pipeline, events: Events, parked: Parked, documents: Documents }
const element = /** @type {HTMLElement} */ (document.getElementById('console'))
/** Longer than the service takes to find out that log or read models do not answer. */
const statusWithinMs = 2500

function App() {
  const [isSignedIn, setSignedIn] = useState(false)
  const [why, setWhy] = useState(/** @type {string | undefined} */ (undefined))
  /** @param {string} key */
  function enter(key) {
    setWhy(undefined)
    signIn(key, (reason) => {
      setWhy(reason)
      setSignedIn(false)
    })
    setSignedIn(true)
  }
  return isSignedIn ? h(Console, {}) : h(SignIn, { why, onEnter: enter })
}

/** @param {{ why: string | undefined, onEnter: (key: string) => void }} props */
function SignIn({ why, onEnter }) {
  const field = useRef(/** @type {HTMLInputElement | null} */ (null))
  useEffect(() => field.current?.focus(), [])
  /** @param {Submitted} submitted */
  function submit(submitted) {
    submitted.preventDefault()
    onEnter(field.current?.value.trim() ?? '')
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
  const { status, mayOperate = false, failed } = useStatus()
  const [page, path, query] = usePage()
  const { [page]: Page = Overview } = pages
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
      ${failed === undefined ? null : html`<div class="outage">${h(Failure, { of: failed.failure })}<p>Since ${time(failed.since)}. This page goes on asking; what it shows is older.</p></div>`}
      ${status === undefined ? html`<p>${failed === undefined ? 'Asking …' : ''}</p>` : h(Guarded, { key: address }, h(Page, { status, mayOperate, path, query }))}
    </main>
    <footer class="quiet">${status === undefined ? '' : `Process ${status.process.name}, role ${status.process.role}, release ${status.process.release}, started ${new Date(status.process.startedAt).toLocaleString()}`}</footer>
  `
}

/** Asked for every second: so a key that is no longer valid signs out, and what fails is said at once. */
function useStatus() {
  const [state, setState] = useState(
    /** @type {{ status?: Status, mayOperate?: boolean, failed?: { failure: unknown, since: number } }} */ ({}),
  )
  useEffect(
    () =>
      every(1000, async () => {
        try {
          const { value, headers } = await ask('console/api/status', { timeoutMs: statusWithinMs })
          setState({ status: value, mayOperate: headers.get('may-operate') === 'true' })
        } catch (failure) {
          setState((before) => ({ ...before, failed: { failure, since: before.failed?.since ?? Date.now() } }))
        }
      }),
    [],
  )
  return state
}

/**
 * The page that the address names, what follows its name, and what stands behind a `?`.
 * @returns {[name: string, path: string[], query: string]}
 */
function usePage() {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const follow = () => setHash(location.hash)
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
  const [where = '', ...query] = hash.slice('#/'.length).split('?')
  const [name = '', ...path] = where.split('/').map(decoded)
  return [Object.hasOwn(pages, name) ? name : 'overview', path, query.join('?')]
}

/**
 * As it is where it is no encoded text: anybody can write an address.
 * @param {string} part
 */
function decoded(part) {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** @param {string} text */
function capitalised(text) {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

render(h(App, {}), element)

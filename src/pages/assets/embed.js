// Renews the session of an app in a frame: the app asks with a message and gets a new one-time code. Only messages from this
// frame and its origin are accepted, and the answer goes to that origin only. Without this script the link reloads the app.

const frame = document.querySelector('iframe[data-origin]')
const form = document.querySelector('form[data-renew]')

// However often the app asks, the server is asked once in so many seconds, and not before it wants to be.
const pauseSeconds = 5
const longestPauseSeconds = 60
let nextAt = 0
const turn = () => new Promise((resolve) => setTimeout(resolve, nextAt - performance.now()))
const pause = (seconds) => (nextAt = performance.now() + Math.min(seconds, longestPauseSeconds) * 1000)

// Null if the server says that something has ended; a redirect leads to the sign-in. A server that cannot be reached says nothing.
const freshCode = async () => {
  for (;;) {
    await turn()
    pause(pauseSeconds)
    try {
      const body = new URLSearchParams(new FormData(form))
      const answer = await fetch(form.action, { method: 'POST', body, redirect: 'manual' })
      if (answer.ok) return (await answer.json()).code
      if (answer.status !== 429 && answer.status < 500) return null
      pause(Math.max(pauseSeconds, Number(answer.headers.get('retry-after'))))
    } catch {
      // Asked again.
    }
  }
}

if (frame !== null && form !== null) {
  let isAsking = false
  window.addEventListener('message', async (event) => {
    if (event.source !== frame.contentWindow || event.origin !== frame.dataset.origin) return
    if (event.data?.type !== 'app-platform:code-request' || isAsking) return
    isAsking = true
    const code = await freshCode()
    isAsking = false
    const answer = code === null ? { type: 'app-platform:code-refused' } : { type: 'app-platform:code', code }
    frame.contentWindow.postMessage(answer, frame.dataset.origin)
    document.getElementById('ended').hidden = code !== null
  })
}

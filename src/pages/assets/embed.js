// Renews the session of an app in a frame: the app asks with a message and gets a new one-time code. Only messages from this
// frame and its origin are accepted, and the answer goes to that origin only. Without this script the link reloads the app.

const frame = document.querySelector('iframe[data-origin]')
const form = document.querySelector('form[data-renew]')

const freshCode = async () => {
  const answer = await fetch(form.action, { method: 'POST', body: new URLSearchParams(new FormData(form)) })
  return answer.ok ? (await answer.json()).code : null
}

if (frame !== null && form !== null) {
  let asking = null
  window.addEventListener('message', async (event) => {
    if (event.source !== frame.contentWindow || event.origin !== frame.dataset.origin) return
    if (event.data?.type !== 'app-platform:code-request') return
    asking ??= freshCode().catch(() => null)
    const code = await asking
    asking = null
    const answer = code === null ? { type: 'app-platform:code-refused' } : { type: 'app-platform:code', code }
    frame.contentWindow.postMessage(answer, frame.dataset.origin)
    document.getElementById('ended').hidden = code !== null
  })
}

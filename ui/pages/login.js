// @ts-check
// The login with a token.

import { pathOf, Refusal, send } from "../core/api.js";
import { basePath, link } from "../core/base.js";
import { html, useEffect, useState } from "../core/html.js";

/** @import { EventOf } from "../core/html.js" */

export function Login() {
  const [error, fail] = useState(/** @type {Refusal | null} */ (null));
  const [isSending, sending] = useState(false);
  useEffect(() => {
    document.title = "Log in · drover";
    document.documentElement.dataset.ready = "1";
  }, []);
  const submit = async (/** @type {EventOf<HTMLFormElement>} */ event) => {
    event.preventDefault();
    sending(true);
    try {
      const input = /** @type {HTMLInputElement} */ (event.target.elements.namedItem("token"));
      await send("POST", pathOf("/api/session"), { token: input.value.trim() });
      location.replace(next());
    } catch (refused) {
      fail(refused instanceof Refusal ? refused : null);
      sending(false);
    }
  };
  return html`<main class="login" id="main">
    <form class="panel panel-body" onSubmit=${submit}>
      <h1>drover</h1>
      <div class=${`field ${error ? "wrong" : ""}`}>
        <label for="token">Token</label>
        <input id="token" name="token" type="password" required autofocus autocomplete="current-password"
          aria-describedby="token-note" aria-invalid=${error ? "true" : undefined} />
        <small id="token-note" role=${error ? "alert" : undefined}>
          ${error ? whatFailed(error) : html`<code>drover token create --role operator --name NAME</code> prints one.`}</small>
      </div>
      <button class="btn primary" type="submit" disabled=${isSending}>Log in</button>
    </form>
  </main>`;
}

/** @param {Refusal} error */
const whatFailed = (error) => (error.status === 401 ? "This token is unknown or revoked." : error.detail || error.title);

/** The page from which the reader came, on this server; else the overview. */
function next() {
  const wanted = new URLSearchParams(location.search).get("next") ?? "";
  return wanted.startsWith(`${basePath}/admin`) ? wanted : link("/admin");
}

// @ts-check
// The forecast of capacity: what the schedules need, or the stores, interval and slots in the page's address,
// against what there is. In: the parameters of the address.

import { pathOf } from "../../core/api.js";
import { link, pick } from "../../core/base.js";
import { count, duration, rate } from "../../core/format.js";
import { html, useRef } from "../../core/html.js";
import { useResource } from "../../core/resource.js";
import { setQuery } from "../../core/router.js";
import { Empty, Loaded, Panel } from "../../parts/panel.js";

/** @import { EventOf } from "../../core/html.js" */
/** @import { Forecast as Answer, RoleForecast } from "../../types/api" */

const PARAMETERS = /** @type {const} */ (["stores", "every", "slots"]);
/** @type {{ name: typeof PARAMETERS[number], label: string, placeholder: string, mode: "numeric" | "text" }[]} */
const FIELDS = [
  { name: "stores", label: "Stores", placeholder: "2000", mode: "numeric" },
  { name: "every", label: "Every", placeholder: "4h", mode: "text" },
  { name: "slots", label: "Slots", placeholder: "75", mode: "numeric" },
];

/** @param {{ query: URLSearchParams }} properties */
export function Forecast({ query }) {
  const asked = pick(query, PARAMETERS);
  const answer = useResource(pathOf("/api/tasks/capacity/forecast", asked), { topics: ["worker", "schedule", "rollups"], gap: 15_000 });
  const last = useRef(/** @type {{ data: Answer | null }} */ ({ data: null }));
  if (answer.data) last.current.data = answer.data;
  const faults = answer.error?.fields.filter(({ field }) => FIELDS.some(({ name }) => name === field)) ?? [];
  // a typing error is said at its field, and the answer before it stays
  const shown = faults.length > 0 && last.current.data ? { ...answer, data: last.current.data } : answer;
  const isWhatIf = PARAMETERS.some((name) => asked[name]);
  return html`<${Panel} title="Forecast" scope=${isWhatIf ? "what these stores would need" : "what the enabled schedules need"}>
    <div class="panel-body"><${WhatIf} key=${query.toString()} asked=${asked} isWhatIf=${isWhatIf} faults=${faults} /></div>
    ${(faults.length === 0 || shown.data) && html`<${Loaded} of=${shown} what="The forecast">${(/** @type {Answer} */ data) => html`
      ${faults.length > 0 && html`<p class="panel-body scope">The previous answer:</p>`}
      <p class=${`panel-body lead ${data.is_enough === false ? "bad" : ""}`}>${data.summary}</p>
      <${Roles} roles=${data.roles} />`}</${Loaded}>`}
  </${Panel}>`;
}

/** @param {{ asked: Record<string, string | null>, isWhatIf: boolean, faults: { field: string, detail: string }[] }} properties */
function WhatIf({ asked, isWhatIf, faults }) {
  const submit = (/** @type {EventOf<HTMLFormElement>} */ event) => {
    event.preventDefault();
    const values = new FormData(event.target);
    setQuery(Object.fromEntries(PARAMETERS.map((name) => [name, String(values.get(name) ?? "").trim()])));
  };
  return html`<form class="row what-if" aria-label="What if" onSubmit=${submit}>
    ${FIELDS.map(({ name, label, placeholder, mode }) => {
      const wrong = faults.find(({ field }) => field === name)?.detail;
      return html`<label class=${`field ${wrong ? "wrong" : ""}`} key=${name}>${label}
        <input name=${name} size="8" inputmode=${mode} placeholder=${placeholder} defaultValue=${asked[name] ?? ""} autocomplete="off"
          aria-invalid=${wrong ? "true" : undefined} aria-describedby=${wrong ? `wrong-${name}` : undefined} />
        ${wrong && html`<small id=${`wrong-${name}`} role="alert">${wrong}</small>`}</label>`;
    })}
    <button class="btn primary" type="submit">Forecast</button>
    ${isWhatIf && html`<a class="btn" href=${link("/admin/capacity")}>As scheduled</a>`}
  </form>`;
}

/** @param {{ roles: RoleForecast[] }} properties */
function Roles({ roles }) {
  if (roles.length === 0) return html`<${Empty} icon="pending" title="No enabled schedule makes tasks" />`;
  return html`<table class="table fold">
    <thead><tr><th>Role</th><th class="num">Runs an hour</th><th class="num">A run takes</th><th class="num">Requests a run</th>
      <th class="num">Slots needed</th><th class="num">Slots available</th><th class="num">Requests/s</th></tr></thead>
    <tbody>${roles.map((role) => html`<tr key=${role.role}>
      <th scope="row" class="key">${role.role}</th>
      <td class="num fact" data-l="runs an hour">${rate(role.runs_per_hour)}</td>
      <td class="num fact" data-l="a run takes">${duration(role.seconds_per_run)}</td>
      <td class="num fact" data-l="requests a run">${rate(role.requests_per_run)}</td>
      <td class=${`num fact ${(role.busy_slots ?? 0) > role.slots ? "bad" : ""}`} data-l="slots needed">${rate(role.busy_slots)}</td>
      <td class="num fact" data-l="slots available">${count(role.slots)}</td>
      <td class="num fact" data-l="requests/s">${rate(role.requests_per_second)}</td>
    </tr>`)}</tbody>
  </table>`;
}

// @ts-check
// The number of the workers' pods in Kubernetes, and the form that sets it.

import { pathOf, send } from "../../core/api.js";
import { count, plural } from "../../core/format.js";
import { html, useState } from "../../core/html.js";
import { useResource } from "../../core/resource.js";
import { may } from "../../core/session.js";
import { FormDialog } from "../../parts/form.js";
import { Icon } from "../../parts/icon.js";
import { Loaded, Panel } from "../../parts/panel.js";
import { act } from "../../parts/toast.js";

/** @import { WorkerReplicas } from "../../types/api" */
/** @import { Values } from "../../parts/form.js" */

export function Replicas() {
  const answer = useResource(pathOf("/api/workers/k8s/replicas"), { topics: ["worker"], gap: 10_000 });
  const [isAsked, ask] = useState(false);
  const set = answer.data;
  return html`<${Panel} title="Pods in Kubernetes" scope=${set ? `${set.statefulset} in ${set.namespace}` : ""}
      more=${set && may("admin") && html`<span class="row actions">
        <${Step} set=${set} by=${-1} /><b>${count(set.replicas)}</b><${Step} set=${set} by=${1} />
        <button class="btn small" type="button" onClick=${() => ask(true)}>Scale…</button></span>`}>
      <${Loaded} of=${answer} what="The number of pods" rows=${1}>${(/** @type {WorkerReplicas} */ set) =>
        html`<p class="panel-body">${sentence(set)}</p>`}</${Loaded}>
    </${Panel}>
    ${isAsked && set && html`<${Scale} set=${set} onClose=${() => ask(false)} />`}`;
}

/** One pod more or less. @param {{ set: WorkerReplicas, by: 1 | -1 }} properties */
function Step({ set, by }) {
  const { replicas, min_replicas: min, max_replicas: max } = set;
  const wanted = replicas + by;
  const scale = () => act(() => send("POST", pathOf("/api/workers/k8s/scale"), { replicas: wanted }), `${plural(wanted, "pod")} wanted`);
  return html`<button class="icon-btn" type="button" disabled=${wanted < min || wanted > max} onClick=${scale}
    aria-label=${by > 0 ? "One pod more" : "One pod less"}><${Icon} name=${by > 0 ? "plus" : "minus"} /></button>`;
}

/** @param {WorkerReplicas} set */
function sentence({ replicas, current_replicas: current, ready_replicas: ready, autoscaler }) {
  const pods = `${plural(replicas, "pod")} wanted, ${count(current)} there, ${count(ready)} ready.`;
  return autoscaler ? `${pods} ${autoscaler} sets the number, too.` : pods;
}

/** @param {{ set: WorkerReplicas, onClose: () => void }} properties */
function Scale({ set, onClose }) {
  const { replicas, min_replicas: min, max_replicas: max, autoscaler } = set;
  const submit = (/** @type {Values} */ { replicas }) =>
    send("POST", pathOf("/api/workers/k8s/scale"), { replicas: Number(replicas) });
  const help = `${count(min)} to ${count(max)} (kubernetes.min_replicas, kubernetes.max_replicas)`;
  return html`<${FormDialog} title="How many pods shall work?" action="Scale" submit=${submit} onClose=${onClose}
    done=${(/** @type {WorkerReplicas} */ set) => `${plural(set.replicas, "pod")} wanted`}
    fields=${[{ name: "replicas", label: "Pods", type: "number", value: replicas, required: true, min, max, help }]}>
    <p>Surplus pods claim no more tasks, finish those they have, and stop.</p>
    ${autoscaler && html`<p class="hold">${autoscaler} may set another number soon after.</p>`}</${FormDialog}>`;
}

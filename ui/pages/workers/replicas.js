// @ts-check
// The number of the workers' pods in Kubernetes, and the form that sets it.

import { pathOf, send } from "../../core/api.js";
import { count, plural } from "../../core/format.js";
import { html, useState } from "../../core/html.js";
import { useResource } from "../../core/resource.js";
import { may } from "../../core/session.js";
import { FormDialog } from "../../parts/form.js";
import { Loaded, Panel } from "../../parts/panel.js";

/** @import { WorkerReplicas } from "../../types/api" */
/** @import { Values } from "../../parts/form.js" */

export function Replicas() {
  const answer = useResource(pathOf("/api/workers/k8s/replicas"), { topics: ["worker"], gap: 10_000 });
  const [isAsked, ask] = useState(false);
  const set = answer.data;
  return html`<${Panel} title="Pods in Kubernetes" scope=${set ? `${set.statefulset} in ${set.namespace}` : ""}
      more=${set && may("admin") && html`<button class="btn small" type="button" onClick=${() => ask(true)}>Scale…</button>`}>
      <${Loaded} of=${answer} what="The number of pods" rows=${1}>${(/** @type {WorkerReplicas} */ set) =>
        html`<p class="panel-body">${sentence(set)}</p>`}</${Loaded}>
    </${Panel}>
    ${isAsked && set && html`<${Scale} set=${set} onClose=${() => ask(false)} />`}`;
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
    <p>Pods that are too many take no more tasks, end those they have, and leave.</p>
    ${autoscaler && html`<p class="hold">${autoscaler} may set another number soon after.</p>`}</${FormDialog}>`;
}

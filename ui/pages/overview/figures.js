// @ts-check
// Task Queue Summary: six figures with their scopes.

import { link } from "../../core/base.js";
import { count, decimal, duration, plural, share, shortCount } from "../../core/format.js";
import { html } from "../../core/html.js";
import { Icon } from "../../parts/icon.js";
import { Failure } from "../../parts/panel.js";
import { useHourOfDemo } from "../../parts/simulated.js";
import { Figure, Strip } from "../../parts/strip.js";
import { isLive } from "../../parts/pods.js";
import { hrefOf, mendedSince } from "./failures.js";
import { oldestReady, runningOf } from "./verdict.js";

/** @import { Refusal } from "../../core/api.js" */
/** @import { Capacity } from "../../types/api" */
/** @import { Seen } from "./verdict.js" */

/** @param {Seen & { error: Refusal | null }} properties */
export function Figures({ overview, error }) {
  const demo = useHourOfDemo();
  if (!overview) {
    return error
      ? html`<section class="panel"><${Failure} error=${error} what="The summary" /></section>`
      : html`<section class="panel"><dl class="strip loading"></dl></section>`;
  }
  const { counts, failures } = overview;
  const workers = overview.workers.filter(isLive);
  const hour = lastHour(overview.capacity);
  const ready = overview.ready.reduce((sum, each) => sum + each.tasks, 0);
  const slots = workers.reduce((sum, worker) => sum + worker.max_concurrent_tasks, 0);
  const oldest = oldestReady(overview.ready);
  const late = overview.ready.find((each) => each.oldest_seconds === oldest);
  const [completed, unit] = shortCount(hour.completed);
  const running = runningOf(counts);
  // of a worker that died, until their leases run out
  const others = running - workers.reduce((sum, worker) => sum + worker.active_task_count, 0);
  const { products, announced } = overview.stores;
  return html`<${Strip} label="Task Queue Summary">
    <${Figure} label="Pending" value=${count(counts.pending)} href=${link("/admin/tasks", { status: "pending" })}
      scope=${`now: ${count(ready)} ready, ${count(Math.max(0, counts.pending - ready))} wait`} />
    <${Figure} label="Running" value=${count(running)} unit=${slots ? `/ ${plural(slots, "slot")}` : ""}
      href=${link("/admin/tasks", { status: "running" })}
      scope=${`now, on ${plural(workers.length, "worker")}${others > 0 ? `; ${count(others)} on none of them` : ""}`} />
    <${Figure} label="Completed tasks" value=${completed} unit=${unit} href=${link("/admin/tasks", { status: "completed" })}
      scope=${`last hour, ${decimal(hour.completed / 60)} a minute${demo.real}`} />
    <${Figure} label="Failed tasks" value=${count(failures.tasks)} href=${hrefOf(failures)}
      kind=${failures.tasks > 0 ? "bad" : ""}
      icon=${failures.tasks > 0 && html`<${Icon} name="failed" />`}
      scope=${`last hour, ${share(failures.tasks, hour.failed + hour.completed)} of ended${mendedSince(failures)}${demo.counted}`} />
    <${Figure} label="Oldest ready task" value=${late ? duration(oldest) : "–"}
      href=${link("/admin/tasks", { status: "pending", role: late?.role })}
      scope=${late ? `now, ${late.role}` : "none is ready"} />
    <${Figure} label="Coverage" value=${announced > 0 ? share(products, announced) : "–"} href=${link("/admin/stores")}
      scope=${`of ${plural(announced, "product")}, last crawls`} />
  </${Strip}>`;
}

/** @param {Capacity[]} capacity */
function lastHour(capacity) {
  const sum = (/** @type {"completed_last_hour" | "failed_last_hour"} */ name) => capacity.reduce((all, role) => all + role[name], 0);
  return { completed: sum("completed_last_hour"), failed: sum("failed_last_hour") };
}

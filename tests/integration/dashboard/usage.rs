//! Memory and CPU of a pod on the page of the job queue.

use super::world::World;

/// The sentence of the selected pod's chart.
const CHART: &str = "(document.querySelector('main .chart svg')?.getAttribute('aria-label') ?? '')";

fn uses(memory: u32, cpu: u32) -> String {
    format!(
        "UPDATE worker_registry SET last_heartbeat_at = clock_timestamp(), resources = resources || '{{\"memory_percent\": {memory}, \"cpu_percent\": {cpu}}}'
         WHERE pod = 'Kryll'"
    )
}

#[tokio::test]
async fn the_selected_pod_has_a_curve_of_its_memory_and_cpu_since_the_page_was_opened() {
    let world = World::start().await;
    world.execute(&uses(40, 10)).await;
    world.open("/admin/job-queue?pod=Kryll").await;
    world.browser.until("it has one value", &format!("{CHART}.includes('memory 40 %, CPU 10 %')")).await.unwrap();
    world.sees("since this page was opened at").await;
    world.execute(&uses(70, 25)).await;
    world
        .browser
        .until("it has both", &format!("{CHART}.includes('memory 40 to 70 %, CPU 10 to 25 %')"))
        .await
        .unwrap();
    world.assert_no_errors().await;
}

#[tokio::test]
async fn the_hub_says_memory_and_cpu_once_a_pod() {
    let world = World::start().await;
    world.execute(&uses(40, 10)).await;
    world.open("/admin/job-queue").await;
    let names = "[...document.querySelectorAll('.hub a[data-node]')].map((each) => each.getAttribute('aria-label') ?? each.innerText)";
    let of_kryll = format!("{names}.filter((name) => name.includes('memory 40 %, CPU 10 %')).length");
    world.browser.until("the pod says it alone", &format!("{of_kryll} === 1")).await.unwrap();
}

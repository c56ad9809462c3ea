//! The autoscaler of a StatefulSet, read off the StatefulSet alone: the Role grants no look at autoscalers.
//!
//! Two signs: the annotation that the overlays of `deploy/k8s` set, and the entry of `managedFields` that Kubernetes' autoscaler leaves
//! when it sets the number. An autoscaler from elsewhere is therefore seen from its first change on, until another client changes the
//! number. KEDA sets it by an autoscaler of Kubernetes.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ManagedFieldsEntry, ObjectMeta};

const ANNOTATION: &str = "dispensary-scraper/autoscaler";
/// Field managers of autoscalers, which set the number by the subresource `scale`; kubectl, for one, has another name.
const MANAGERS: [(&str, &str); 2] = [("kube-controller-manager", "HorizontalPodAutoscaler"), ("keda-operator", "KEDA")];

pub fn of(metadata: &ObjectMeta) -> Option<String> {
    let named = metadata.annotations.as_ref().and_then(|annotations| annotations.get(ANNOTATION));
    named.cloned().or_else(|| metadata.managed_fields.as_ref()?.iter().find_map(by_change))
}

fn by_change(entry: &ManagedFieldsEntry) -> Option<String> {
    let is_of_replicas = entry.fields_v1.as_ref()?.0.pointer("/f:spec/f:replicas").is_some();
    if entry.subresource.as_deref() != Some("scale") || !is_of_replicas {
        return None;
    }
    let known = MANAGERS.iter().find(|(manager, _)| entry.manager.as_deref() == Some(manager));
    known.map(|(_, autoscaler)| (*autoscaler).to_owned())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    fn changed(manager: &str, subresource: &str, fields: Value) -> Value {
        let entry = json!({ "manager": manager, "operation": "Update", "subresource": subresource,
                            "fieldsType": "FieldsV1", "fieldsV1": fields });
        json!({ "managedFields": [{ "manager": "kubectl", "operation": "Apply", "fieldsV1": { "f:spec": {} } }, entry] })
    }

    fn replicas() -> Value {
        json!({ "f:spec": { "f:replicas": {} } })
    }

    #[rstest]
    #[case::named_by_an_overlay(json!({ "annotations": { ANNOTATION: "KEDA" } }), Some("KEDA"))]
    #[case::seen_by_its_change(
        changed("kube-controller-manager", "scale", replicas()),
        Some("HorizontalPodAutoscaler")
    )]
    #[case::a_person(changed("kubectl", "scale", replicas()), None)]
    #[case::drover(changed("drover", "", replicas()), None)]
    #[case::the_status(changed("kube-controller-manager", "status", json!({ "f:status": { "f:replicas": {} } })), None)]
    #[case::since_changed_by_another(changed("kube-controller-manager", "scale", json!({})), None)]
    #[case::nothing(json!({}), None)]
    fn an_autoscaler_is_seen_on_its_statefulset(#[case] metadata: Value, #[case] expected: Option<&str>) {
        let metadata: ObjectMeta = serde_json::from_value(metadata).unwrap();
        assert_eq!(of(&metadata).as_deref(), expected);
    }
}

//! The manifests' policies state the trust table.

use countersign_operate::files;
use countersign_operate::kubernetes::Manifests;
use countersign_operate::trust::{Faces, TrustTable};
use serde_json::{Value, json};

#[test]
fn the_policies_are_the_table() {
    let table = TrustTable::read().expect("table");
    let edges = Manifests::read()
        .expect("manifests")
        .edges()
        .expect("policies");
    assert_eq!(edges.differences(&table.edges()), Vec::<String>::new());
}

#[test]
fn nothing_is_open_that_no_policy_opens() {
    let manifests = Manifests::read().expect("manifests");
    let all = manifests
        .find("NetworkPolicy", "default-deny")
        .expect("default");
    assert_eq!(all["spec"]["podSelector"], json!({}));
    assert_eq!(all["spec"]["policyTypes"], json!(["Ingress", "Egress"]));
    let kinds = ["Deployment", "StatefulSet", "Job"];
    for pod in kinds.iter().flat_map(|kind| manifests.of_kind(kind)) {
        let name = pod["metadata"]["name"].as_str().expect("name");
        let policy = manifests
            .find("NetworkPolicy", name)
            .expect("a policy of its own");
        assert_eq!(
            policy["spec"]["policyTypes"],
            json!(["Ingress", "Egress"]),
            "{name}"
        );
    }
}

#[test]
fn a_policy_that_one_end_opens_alone_is_found() {
    let mut manifests = Manifests::read().expect("manifests");
    let agent = manifests
        .0
        .iter_mut()
        .find(|one| one["kind"] == "NetworkPolicy" && one["metadata"]["name"] == "agent");
    let rules = agent.expect("policy")["spec"]["egress"]
        .as_array_mut()
        .expect("rules");
    rules.push(json!({
        "to": [{"podSelector": {"matchLabels": {"app": "database"}}}],
        "ports": [{"protocol": "TCP", "port": 5432}],
    }));
    let error = manifests.edges().expect_err("one-sided").to_string();
    assert_eq!(error, "agent may call database, which does not let it in");
}

#[test]
fn every_pod_is_shut_in() {
    let table = TrustTable::read().expect("table");
    let manifests = Manifests::read().expect("manifests");
    let kinds = ["Deployment", "StatefulSet", "Job"];
    for workload in kinds.iter().flat_map(|kind| manifests.of_kind(kind)) {
        let name = workload["metadata"]["name"].as_str().expect("name");
        let pod = &workload["spec"]["template"]["spec"];
        assert_eq!(pod["automountServiceAccountToken"], false, "{name}");
        assert_eq!(pod["enableServiceLinks"], false, "{name}");
        assert!(
            pod["hostNetwork"].is_null() && pod["hostPID"].is_null(),
            "{name}"
        );
        let user = &pod["securityContext"];
        assert_eq!(user["runAsNonRoot"], true, "{name}");
        assert_eq!(user["seccompProfile"]["type"], "RuntimeDefault", "{name}");
        if let Some(row) = table.services.get(name) {
            assert_eq!(user["runAsUser"], row.uid, "{name}");
        }
        for container in pod["containers"].as_array().expect("containers") {
            let shut = &container["securityContext"];
            assert_eq!(shut["readOnlyRootFilesystem"], true, "{name}");
            assert_eq!(shut["allowPrivilegeEscalation"], false, "{name}");
            assert_eq!(shut["capabilities"], json!({"drop": ["ALL"]}), "{name}");
            assert!(
                container["resources"]["limits"]["memory"].is_string(),
                "{name}"
            );
            let variables = container["env"]
                .as_array()
                .map(Vec::as_slice)
                .unwrap_or_default();
            for variable in variables {
                assert_eq!(name, "database", "services read no variables");
                assert!(
                    variable["valueFrom"].is_null(),
                    "a secret as a variable: {variable}"
                );
            }
        }
    }
}

#[test]
fn each_service_is_probed_and_reached_where_its_config_says() {
    let table = TrustTable::read().expect("table");
    let manifests = Manifests::read().expect("manifests");
    let edge = manifests.find("Ingress", "edge").expect("edge");
    for (name, row) in &table.services {
        // A folder for each of two processes is what a stateful set gives.
        let kind = if row.keeps.is_some() && !row.alone {
            "StatefulSet"
        } else {
            "Deployment"
        };
        let deployment = manifests.find(kind, name).expect("a workload");
        let pod = &deployment["spec"]["template"]["spec"];
        let container = &pod["containers"][0];
        assert_eq!(container["ports"][0]["containerPort"], row.port, "{name}");
        let config = files::json(&format!("docs/deploy/config/{name}.json")).expect("template");
        let origin = format!("{name}_origin").replace("intake", "chat");
        let host = match row.faces {
            Faces::Nobody => config["hosts"][0].as_str(),
            _ => config[&origin]
                .as_str()
                .and_then(|one| one.strip_prefix("https://")),
        };
        for probe in ["readinessProbe", "livenessProbe"] {
            let get = &container[probe]["httpGet"];
            assert_eq!(get["path"], "/health", "{name}");
            assert_eq!(get["httpHeaders"][0]["value"].as_str(), host, "{name}");
        }
        assert_eq!(
            pod["volumes"][0]["secret"]["secretName"],
            format!("{name}-config")
        );
        let service = manifests.find("Service", name).expect("service");
        assert_eq!(service["spec"]["ports"][0]["port"], row.port, "{name}");
        let rules: Vec<&Value> = edge["spec"]["rules"]
            .as_array()
            .expect("rules")
            .iter()
            .filter(|rule| rule["http"]["paths"][0]["backend"]["service"]["name"] == **name)
            .collect();
        match row.faces {
            Faces::Nobody => assert!(rules.is_empty(), "{name} faces nobody"),
            _ => assert_eq!(rules[0]["host"].as_str(), host, "{name}"),
        }
        // What has one writer is one, and the old one ends before the new one starts; of everything else two can run.
        assert_eq!(
            deployment["spec"]["replicas"],
            if row.alone { 1 } else { 2 },
            "{name}"
        );
        assert_eq!(
            deployment["spec"]["strategy"]["type"] == "Recreate",
            row.alone,
            "{name}"
        );
        let mounts = container["volumeMounts"].as_array().expect("mounts");
        let writable = mounts.iter().filter(|one| one["readOnly"] != true);
        let writable: Vec<&str> = writable
            .filter_map(|one| one["mountPath"].as_str())
            .collect();
        assert_eq!(
            writable,
            row.keeps.as_deref().into_iter().collect::<Vec<_>>(),
            "{name}"
        );
    }
}

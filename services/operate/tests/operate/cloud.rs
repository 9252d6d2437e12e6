//! The cloud template: the trust table as security groups, no way to the internet, nothing left after a teardown, a price.

use countersign_operate::cloud::{FILE, Prices, Template};
use countersign_operate::edges::{Edges, End};
use countersign_operate::files::{self, texts};
use countersign_operate::trust::TrustTable;

#[test]
fn the_security_groups_are_the_table() {
    let table = TrustTable::read().expect("table");
    // Roles and schema are installed by a person from the bank's own network.
    let wanted = table
        .edges()
        .0
        .into_iter()
        .filter(|edge| edge.0 != End::named("install"));
    let wanted = Edges(wanted.collect());
    let edges = Template::read().expect("template").edges().expect("groups");
    assert_eq!(edges.differences(&wanted), Vec::<String>::new());
}

#[test]
fn a_rule_that_one_side_has_alone_or_that_leads_elsewhere_is_found() {
    let text = files::text(FILE).expect("file");
    for (from, to, why) in [
        (
            "DestinationSecurityGroupId: {Ref: AgentGroup}",
            "DestinationSecurityGroupId: {Ref: DatabaseGroup}",
            "one side alone",
        ),
        (
            "CidrIp: {Ref: BankNetworkCidr}",
            "CidrIp: 0.0.0.0/0",
            "the internet",
        ),
        (
            "GroupId: {Ref: EdgeGroup}\n      CidrIp: 0.0.0.0/0",
            "GroupId: {Ref: PanelGroup}\n      CidrIp: 0.0.0.0/0",
            "the internet in",
        ),
    ] {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{why}: the template has the line");
        assert!(
            Template::parse(&changed).expect("YAML").edges().is_err(),
            "{why}"
        );
    }
}

#[test]
fn the_bank_side_has_no_way_to_the_internet() {
    assert_eq!(
        Template::read().expect("template").ways_to_the_internet(),
        Vec::<String>::new()
    );
    let text = files::text(FILE).expect("file");
    for (from, to) in [
        (
            "RouteTableId: {Ref: EdgeRoutes}\n      DestinationCidrBlock",
            "RouteTableId: {Ref: BankRoutes}\n      DestinationCidrBlock",
        ),
        ("AssignPublicIp: DISABLED", "AssignPublicIp: ENABLED"),
        ("PubliclyAccessible: false", "PubliclyAccessible: true"),
    ] {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{from}");
        let template = Template::parse(&changed).expect("YAML");
        assert_eq!(template.ways_to_the_internet().len(), 1, "{to}");
    }
}

#[test]
fn a_teardown_leaves_nothing() {
    assert_eq!(
        Template::read().expect("template").leftovers(),
        Vec::<String>::new()
    );
    let text = files::text(FILE).expect("file");
    for (from, to) in [
        ("DeletionPolicy: Delete", "DeletionPolicy: Retain"),
        ("DeletionPolicy: Delete\n", "\n"),
        (
            "UpdateReplacePolicy: Delete",
            "UpdateReplacePolicy: Snapshot",
        ),
        ("DeletionProtection: false", "DeletionProtection: true"),
        (
            "DeleteAutomatedBackups: true",
            "DeleteAutomatedBackups: false",
        ),
        ("{Status: DISABLED}", "{Status: ENABLED}"),
        ("Value: 'false'", "Value: 'true'"),
    ] {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{from}");
        let template = Template::parse(&changed).expect("YAML");
        assert_eq!(
            template.leftovers().len(),
            1,
            "{to}: {:?}",
            template.leftovers()
        );
    }
}

#[test]
fn an_hour_has_a_price_and_the_page_says_it() {
    let prices = Prices::read().expect("prices");
    let lines = Template::read()
        .expect("template")
        .cost(&prices)
        .expect("every resource has a price");
    let micros: u64 = lines.iter().map(|(_, micros)| micros).sum();
    let shown = format!("{}.{:02}", micros / 1_000_000, micros % 1_000_000 / 10_000);
    println!("An hour costs {shown} ({})", prices.stated);
    let page = files::text("docs/deploy/README.md").expect("page");
    assert!(
        page.contains(&format!("about {shown} US dollars an hour")),
        "the page says {shown}"
    );
}

#[test]
fn a_task_runs_as_its_user_with_its_own_config_and_no_secret_of_another() {
    let table = TrustTable::read().expect("table");
    let template = Template::read().expect("template");
    for (name, row) in &table.services {
        let spelt: String = name
            .split('-')
            .map(|part| part[..1].to_uppercase() + &part[1..])
            .collect();
        let task = template.properties(&format!("{spelt}Task"));
        let containers = task["ContainerDefinitions"].as_array().expect("containers");
        let [config, service] = &containers[..] else {
            panic!("{name}: the config's container and the service's");
        };
        assert_eq!(
            config["Secrets"][0]["ValueFrom"]["Ref"],
            format!("{spelt}Config"),
            "{name}"
        );
        assert_eq!(
            config["Secrets"].as_array().map(Vec::len),
            Some(1),
            "{name}"
        );
        assert!(
            service["Secrets"].is_null() && service["Environment"].is_null(),
            "{name} reads no variables"
        );
        assert_eq!(service["User"], format!("{0}:{0}", row.uid), "{name}");
        assert_eq!(service["ReadonlyRootFilesystem"], true, "{name}");
        assert_eq!(
            texts(&service["LinuxParameters"]["Capabilities"]["Drop"]),
            ["ALL"],
            "{name}"
        );
        assert_eq!(
            service["PortMappings"][0]["ContainerPort"], row.port,
            "{name}"
        );
        let role = template.properties(&format!("{spelt}StartRole"));
        let statement = &role["Policies"][0]["PolicyDocument"]["Statement"];
        assert_eq!(statement.as_array().map(Vec::len), Some(1), "{name}");
        assert_eq!(
            statement[0]["Resource"]["Ref"],
            format!("{spelt}Config"),
            "{name}"
        );
    }
}

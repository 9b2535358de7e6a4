//! The `dist` profile optimises everything: what `release` leaves out for the sake of time, it takes up again.

use std::path::Path;

use toml::Table;

#[test]
fn dist_optimises_what_release_leaves_out() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.toml");
    let text = fs_err::read_to_string(manifest).expect("the workspace's manifest");
    let manifest: Table = text.parse().expect("TOML");
    let levels = |profile: &str| -> Vec<(String, i64)> {
        let packages = manifest["profile"][profile]["package"].as_table().expect("packages");
        let level = |value: &toml::Value| value.get("opt-level").and_then(toml::Value::as_integer);
        packages.iter().filter_map(|(name, of)| Some((name.clone(), level(of)?))).collect()
    };
    let left_out: Vec<String> = levels("release")
        .into_iter()
        .filter(|(_, level)| *level < 3)
        .map(|(name, _)| name)
        .collect();
    let taken_up: Vec<String> =
        levels("dist").into_iter().filter(|(_, level)| *level == 3).map(|(name, _)| name).collect();
    assert!(left_out.len() > 10, "{left_out:?}");
    let sorted = |mut names: Vec<String>| {
        names.sort();
        names
    };
    assert_eq!(sorted(taken_up), sorted(left_out));
}

//! The units: systemd finds no fault in them, and little that the services could do to the machine.

use std::path::Path;
use std::process::{Command, Output};

use rstest::rstest;
use tempfile::TempDir;

/// Ten times the greatest exposure that is permitted.
const MAX_EXPOSURE: &str = "20";

/// The units with the program of the tests in place of the installed one.
fn units() -> TempDir {
    let copy = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/systemd");
    let program = testkit::drover().as_std().get_program().to_str().unwrap().to_owned();
    for name in [
        "drover-.service.d/common.conf",
        "drover-worker@media.service.d/media.conf",
        "drover-api.service",
        "drover-scheduler.service",
        "drover-worker@.service",
    ] {
        std::fs::create_dir_all(copy.path().join(name).parent().unwrap()).unwrap();
        let text = std::fs::read_to_string(source.join(name)).unwrap();
        std::fs::write(copy.path().join(name), text.replace("/usr/local/bin/drover", &program)).unwrap();
    }
    copy
}

fn analyze(units: &Path, args: &[&str], unit: &str) -> Output {
    let path = units.join(unit);
    let mut command = Command::new("systemd-analyze");
    command.args(args).arg(path).env("SYSTEMD_UNIT_PATH", format!("{}:", units.display()));
    command.output().expect("systemd-analyze is missing: ./dev ops-test installs it")
}

#[rstest]
#[case("drover-api.service")]
#[case("drover-scheduler.service")]
#[case("drover-worker@1.service")]
#[case("drover-worker@media.service")]
#[ignore = "needs systemd: ./dev ops-test"]
fn systemd_finds_no_fault_and_little_exposure(#[case] unit: &str) {
    let units = units();
    let verified = analyze(units.path(), &["verify", "--man=no"], unit);
    // an unknown key is only a line
    assert!(verified.status.success() && verified.stderr.is_empty(), "{verified:?}");
    let secure = analyze(units.path(), &["security", "--offline=yes", "--threshold", MAX_EXPOSURE], unit);
    assert!(secure.status.success(), "{}", String::from_utf8_lossy(&secure.stdout));
}

#[test]
#[ignore = "needs systemd: ./dev ops-test"]
fn the_check_of_units_finds_faults() {
    let units = units();
    let conf = units.path().join("drover-.service.d/common.conf");
    let text = std::fs::read_to_string(&conf).unwrap();
    std::fs::write(&conf, text.replace("ProtectSystem=strict", "ProtectSystems=strict")).unwrap();
    assert!(!analyze(units.path(), &["verify", "--man=no"], "drover-api.service").stderr.is_empty());
    std::fs::remove_file(&conf).unwrap();
    let exposed =
        analyze(units.path(), &["security", "--offline=yes", "--threshold", MAX_EXPOSURE], "drover-api.service");
    assert!(!exposed.status.success());
}

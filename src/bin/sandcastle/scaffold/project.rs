//! What the repository itself says about how its dependencies are installed.

use std::path::Path;

use serde_json::Value;

/// Managers of packages for Node, with their lock files and the command that installs what a lock file names.
const MANAGERS: &[(&str, &[&str], &str)] = &[
    ("bun", &["bun.lockb", "bun.lock"], "bun install"),
    ("pnpm", &["pnpm-lock.yaml"], "pnpm install"),
    ("yarn", &["yarn.lock"], "yarn install"),
    ("npm", &["package-lock.json"], "npm install"),
];

/// Returns the command that makes a fresh worktree of the project in `folder` ready for work, if it needs one.
///
/// For Node that is the manager that `package.json` names, else the one whose lock file is there, else npm. Other
/// projects install while they build.
pub(crate) fn install_command(folder: &Path) -> Option<&'static str> {
    let manifest = std::fs::read_to_string(folder.join("package.json")).ok()?;
    let manifest: Value = serde_json::from_str(&manifest).unwrap_or_default();
    let named = manifest["packageManager"].as_str().and_then(|named| named.split('@').next());
    let by_name = MANAGERS.iter().find(|(name, ..)| Some(*name) == named);
    let by_lock =
        || MANAGERS.iter().find(|(_, locks, _)| locks.iter().any(|lock| folder.join(lock).exists()));
    by_name.or_else(by_lock).map_or(Some("npm install"), |(.., command)| Some(command))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn row_190_the_package_manager_is_named_or_known_by_its_lock_file() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, content: &str| fs::write(folder.path().join(name), content).unwrap();
        assert_eq!(install_command(folder.path()), None);
        write("package.json", "not JSON");
        assert_eq!(install_command(folder.path()), Some("npm install"));
        write("pnpm-lock.yaml", "");
        assert_eq!(install_command(folder.path()), Some("pnpm install"));
        write("package.json", r#"{"packageManager": "yarn@4.1.0"}"#);
        assert_eq!(install_command(folder.path()), Some("yarn install"));
        write("package.json", r#"{"packageManager": "other@1"}"#);
        assert_eq!(install_command(folder.path()), Some("pnpm install"));
    }
}

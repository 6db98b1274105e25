//! Agents that want out of their sandbox, in each kind of sandbox that is here.
//!
//! What they try is data: a row each in [`escapes`] and [`network`], and in `crate::hostile::vectors` for what they plant in
//! git. The same agent runs without a sandbox, as the control: there it succeeds, so that a row that tries nothing is found.
//! Nothing here could harm this machine if a sandbox failed: victims are files, processes and sockets of the test.

mod escapes;
mod git;
mod links;
mod network;

use std::collections::BTreeMap;
use std::path::Path;

use rustix::fs::Mode;

/// What lies below a folder: kinds and modes, contents of files and targets of links, by paths.
fn picture(folder: &Path) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let found = path.symlink_metadata().unwrap();
            let what = if found.is_symlink() {
                format!("link to {}", std::fs::read_link(&path).unwrap().display())
            } else if found.is_dir() {
                open.push(path.clone());
                "folder".to_owned()
            } else if found.is_file() {
                let mode = Mode::from_raw_mode(std::os::unix::fs::MetadataExt::mode(&found));
                format!("{mode:?} {:?}", String::from_utf8_lossy(&std::fs::read(&path).unwrap()))
            } else {
                "odd".to_owned()
            };
            all.insert(path.display().to_string(), what);
        }
    }
    all
}

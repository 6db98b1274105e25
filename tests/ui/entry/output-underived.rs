use sandcastle::{NoSandbox, RunOptions, Scripted};

struct Review;

fn main() {
    let _ = RunOptions::new(Scripted::answering("hi"), NoSandbox::new()).output::<Review>();
}

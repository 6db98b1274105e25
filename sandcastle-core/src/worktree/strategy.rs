//! Where an agent works and where its commits end up, as a caller asks for it.
//!
//! Nothing is checked here; that a strategy fits the repository is seen at the entry of a run, by the plan.

/// Says which branch an agent works on, and where.
///
/// | strategy | the agent works in | its commits are |
/// |---|---|---|
/// | [`head`](Self::head) | the work tree of the caller | on the branch that is checked out |
/// | [`merge_to_head`](Self::merge_to_head) | a worktree with a branch of its own | merged into the branch that is checked out |
/// | [`branch`](Self::branch) | a worktree with that branch | on that branch |
///
/// Worktrees are folders in `.sandcastle/worktrees/` of the repository. A branch without upper-case letters, slashes and
/// the like names its folder itself; any other has dashes in their place and a hash behind them, so that no two branches
/// share a folder, not even where `x` and `X` are one file. A worktree in which nothing of value is left is removed when
/// the run ends. Of value is everything that is neither in a commit of a branch nor ignored by git.
///
/// ```
/// use sandcastle_core::BranchStrategy;
///
/// let strategy = BranchStrategy::branch("agent/fix-42").base("main");
/// assert_ne!(strategy, BranchStrategy::head());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BranchStrategy {
    pub(super) way: Way,
    pub(super) base: Option<String>,
}

/// The strategies without what they may add.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Way {
    #[default]
    Head,
    MergeToHead,
    Branch(String),
}

impl BranchStrategy {
    /// Works on the branch that is checked out, in place. This is the default.
    #[must_use]
    pub fn head() -> Self {
        Self::default()
    }

    /// Works on a temporary branch that begins at `HEAD`, and merges it into the branch that is checked out.
    #[must_use]
    pub fn merge_to_head() -> Self {
        Self { way: Way::MergeToHead, base: None }
    }

    /// Works on a branch of this name. One that is not there yet begins at the `HEAD` of the caller.
    #[must_use]
    pub fn branch(name: impl Into<String>) -> Self {
        Self { way: Way::Branch(name.into()), base: None }
    }

    /// Sets the revision at which the branch begins if it is not there yet. Only for [`BranchStrategy::branch`].
    #[must_use]
    pub fn base(mut self, revision: impl Into<String>) -> Self {
        self.base = Some(revision.into());
        self
    }
}

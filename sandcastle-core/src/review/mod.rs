//! Pull requests in a repository: which lines of a diff can be commented on, and the branch of a pull request here.
//!
//! [`Diff`] is pure: text in, files and lines out. [`Checkout`] is a pull request's branch in a local repository, fetched,
//! compared, and pushed only with a lease. [`RemoteRepository`] is what the address of a remote says of a code host. What an agent says of a pull request, and what of that is believed, is in the
//! facade, whose outputs are derived types.

mod checkout;
mod diff;
mod remote;

pub use self::checkout::{Checkout, CheckoutOptions, MergeOutlook};
pub use self::diff::{CommentableLines, Diff, DiffFile};
pub use self::remote::RemoteRepository;

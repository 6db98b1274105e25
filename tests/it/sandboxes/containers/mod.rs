//! What is true of containers of every engine.

mod agents;
mod desk;
mod ending;
mod files;
mod refusals;
mod runs;
mod safety;
mod terminal;
mod work;

pub(super) use self::agents::*;
pub(super) use self::desk::Desk;
pub(super) use self::ending::*;
pub(super) use self::files::*;
pub(super) use self::refusals::*;
pub(super) use self::runs::*;
pub(super) use self::safety::*;
pub(super) use self::terminal::*;
pub(super) use self::work::*;

/// Makes tests of these, each with a desk of its own.
macro_rules! tests {
    ($desk:path) => {
        containers::tests!($desk:
            a_program_works_as_the_owner_at_the_path_of_the_work_tree,
            case_154_and_152_commits_are_made_in_a_linked_worktree,
            w_7_and_case_148_a_death_by_signal_is_no_success,
            w_25_an_input_that_nobody_reads_ends_nothing,
            twenty_containers_at_once_commit_without_a_failure,
            a_start_that_was_dropped_leaves_a_sandbox_that_can_be_used,
            w_23_and_case_179_no_value_is_seen_from_outside,
            nothing_of_this_host_is_inherited,
            w_24b_a_program_has_no_powers_and_writes_only_where_it_may,
            what_is_hidden_is_empty_and_what_is_read_only_stays,
            case_156_a_file_in_a_folder_that_is_not_there_is_refused,
            w_50_a_user_whom_the_work_tree_does_not_belong_to_is_refused,
            w_44_a_missing_image_and_a_missing_client_are_told_apart,
            case_134_a_missing_image_leaves_no_worktree_and_no_branch_of_its_own,
            an_unknown_network_is_refused_and_leaves_nothing,
            w_3_and_case_173_what_ignores_signals_is_ended_inside,
            w_24_a_closed_or_dropped_container_is_gone_at_once,
            w_57_a_start_that_is_given_up_leaves_nothing,
            w_28_a_container_whose_owner_is_gone_is_removed_by_the_next_start,
            w_28_runs_clean_removes_the_container_of_a_run_that_was_killed,
            w_35_what_is_copied_in_belongs_to_the_agent_and_comes_out_again,
            a_hostile_archive_writes_nothing_outside,
            row_098_a_program_has_the_terminal_of_whoever_started_it,
            a_container_does_what_every_sandbox_does,
            case_157_and_164_an_agent_inside_is_told_its_folder_and_commits_as_the_host,
            case_174_an_interrupt_removes_the_container,
            a_network_is_limited_to_the_hosts_that_are_named,
            a_container_that_is_removed_from_outside_is_a_lost_connection,
            claude_code_answers_with_a_value_and_a_commit_from_inside,
            an_agent_that_wrecks_what_it_sees_of_git_harms_nobody_else,
            w_39_words_and_variables_arrive_as_they_are,
        );
    };
    ($desk:path: $($test:ident),* $(,)?) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                let Some(desk) = $desk() else { return };
                containers::$test(&desk).await;
            }
        )*
    };
}
pub(super) use tests;

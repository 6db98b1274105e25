//! Draws a workflow, for a page or for a person.
//!
//! `chart` says what there is to see and knows of no form; `mermaid` writes it down, `layout` finds a place for everything and `svg`
//! draws that. The same workflow always gives the same bytes. What a document says is text in a picture and nothing else: no
//! markup, no style and no address of it gets through.

mod chart;
mod layout;
mod mermaid;
mod svg;

use self::chart::Chart;
use super::definition::Workflow;

impl Workflow {
    /// Draws the workflow as a Mermaid flowchart, which GitHub and others show in a fenced block `mermaid`.
    ///
    /// ```
    /// # use sandcastle_core as sandcastle;
    /// use sandcastle::workflow::{Step, Workflow};
    ///
    /// let workflow = Workflow::new("tests").step(Step::tool("tests", ["cargo", "test"]));
    /// assert!(workflow.to_mermaid().starts_with("flowchart TD\n"));
    /// ```
    #[must_use]
    pub fn to_mermaid(&self) -> String {
        mermaid::write(&Chart::of(self))
    }

    /// Draws the workflow as an SVG image that needs nothing else: no script, no font and no file. It follows the light or the
    /// dark of whoever shows it.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let chart = Chart::of(self);
        svg::draw(&layout::arrange(&chart), &chart.name)
    }
}

#[cfg(test)]
mod tests;

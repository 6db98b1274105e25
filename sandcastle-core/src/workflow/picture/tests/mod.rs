//! Tests of pictures: every kind of step, the ways between them, and texts that want to be more than that.

use svg::node::element::tag::Type;
use svg::parser::Event;

use super::super::definition::{
    AgentSource, AgentStep, Branching, FallbackAction, Guardrails, SandboxSource, Step, StepKind, Workflow,
};
use super::super::providers::{AgentSpec, SandboxSpec};
use crate::testing::ScriptedModel;

fn model(name: &str) -> Step {
    Step::model(name, ScriptedModel::new()).prompt("...")
}

/// A model behind a gate, a choice, two ways at once, an approval.
fn workflow() -> Workflow {
    Workflow::new("triage")
        .guardrails(Guardrails::new(0.7).fallback(FallbackAction::EscalateToHuman))
        .step(model("triage").confidence_gate())
        .step(
            Step::condition("urgent", "triage.severity == \"high\"")
                .then([Step::tool("page", ["page", "somebody"])])
                .otherwise([]),
        )
        .step(
            Step::parallel("both")
                .branch("docs", [Step::tool("spell", ["spell"]), Step::tool("links", ["links"])])
                .branch("code", [Step::tool("tests", ["cargo", "test", "--", "{{ input }}"])])
                .branch("nothing", []),
        )
        .step(Step::approval("release", "Release it?"))
}

#[test]
fn a_flowchart_has_a_shape_for_each_kind_and_an_edge_for_each_way() {
    let expected = r#"flowchart TD
    start([start])
    n1("triage<br/>model: scripted/model")
    n2(["approval<br/>of triage"])
    n3{"urgent<br/>condition: triage.severity == #34;high#34;"}
    n4["page<br/>tool: page somebody"]
    n5{{"both<br/>parallel"}}
    subgraph n5_all["both"]
        subgraph n5_0["docs"]
            n6["spell<br/>tool: spell"]
            n7["links<br/>tool: links"]
        end
        subgraph n5_1["code"]
            n8["tests<br/>tool: cargo test -- #123;#123; input #125;#125;"]
        end
    end
    n9(["release<br/>approval: Release it?"])
    finish([end])
    start --> n1
    n1 -->|"below 0.7"| n2
    n1 -->|"0.7 or more"| n3
    n2 --> n3
    n3 -->|"yes"| n4
    n4 --> n5
    n3 -->|"no"| n5
    n5 --> n6
    n6 --> n7
    n5 --> n8
    n7 --> n9
    n8 --> n9
    n5 -->|"nothing"| n9
    n9 --> finish
"#;
    assert_eq!(workflow().to_mermaid(), expected);
}

#[test]
fn an_answer_that_fails_the_workflow_leads_nowhere() {
    let workflow = Workflow::new("w").guardrails(Guardrails::new(0.5)).step(model("a").confidence_gate());
    let flow = workflow.to_mermaid();
    assert!(flow.contains("    n2[/\"fails<br/>not certain enough\"\\]\n"), "{flow}");
    assert!(flow.contains("    n1 -->|\"0.5 or more\"| finish\n") && !flow.contains("n2 -->"), "{flow}");
}

#[test]
fn an_agent_says_where_it_works() {
    let mut step = model("fix");
    let (agent, sandbox) = (AgentSpec::new("pi"), SandboxSpec::new("docker"));
    let mut work = AgentStep::new(AgentSource::Named(agent), SandboxSource::Named(sandbox));
    work.branching = Branching::Branch("fix/1".into());
    step.kind = StepKind::Agent(work);
    let flow = Workflow::new("w").step(step).to_mermaid();
    assert!(flow.contains("n1[[\"fix<br/>agent: pi in docker on fix/1\"]]"), "{flow}");
}

#[test]
fn a_text_of_a_document_is_a_text_in_a_flowchart() {
    let hostile = "x\"]\n  click n1 href \"javascript:alert(1)\"\n%%{init: {}}%%<img src=x>#quot;`";
    let flow = Workflow::new(hostile).step(Step::approval("a", hostile)).to_mermaid();
    let lines: Vec<&str> = flow.lines().collect();
    assert_eq!(lines.len(), 6, "{flow}");
    let label = lines[2].strip_prefix("    n1([\"a<br/>").and_then(|rest| rest.strip_suffix("\"])")).unwrap();
    assert!(!label.contains(['"', '<', '>', '%', '{', '`', '[', '&']), "{label}");
    let flow = Workflow::new("w").step(Step::tool("a", ["fa:fa-bug", "$$x$$"])).to_mermaid();
    assert!(flow.contains("tool: fa#58;fa-bug #36;#36;x#36;#36;"), "{flow}");
}

/// The tags of an image that were opened and not closed, after it was read; what is in texts.
fn read(image: &str) -> (Vec<String>, Vec<String>) {
    let (mut open, mut texts) = (Vec::new(), Vec::new());
    for event in svg::read(image).unwrap() {
        match event {
            Event::Tag(name, Type::Start, _) => open.push(name.to_owned()),
            Event::Tag(name, Type::End, _) => assert_eq!(open.pop().as_deref(), Some(name)),
            Event::Text(text) => texts.push(text.to_owned()),
            Event::Error(error) => panic!("{error}: {image}"),
            _ => {}
        }
    }
    (open, texts)
}

#[test]
fn an_image_is_whole_and_shows_every_step() {
    let image = workflow().to_svg();
    let (open, texts) = read(&image);
    assert!(open.is_empty(), "{open:?}");
    for shown in ["triage", "urgent", "page", "both", "spell", "links", "tests", "release", "docs", "code"] {
        assert!(texts.iter().any(|text| text == shown), "{shown}");
    }
    assert_eq!(image.matches("class=\"step ").count(), 9);
    assert_eq!(image.matches("class=\"dot\"").count(), 2);
    assert_eq!(image, workflow().to_svg(), "the same bytes each time");
    assert!(image.contains("prefers-color-scheme: dark"));
}

#[test]
fn nothing_in_an_image_is_in_the_place_of_something_else() {
    let chart = super::chart::Chart::of(&workflow());
    let picture = super::layout::arrange(&chart);
    // A test that looks at nothing would pass, too.
    assert_eq!(picture.boxes.len(), 9);
    for (index, one) in picture.boxes.iter().enumerate() {
        assert!(one.corner.x >= 0 && one.corner.x + one.width <= picture.width, "{one:?}");
        assert!(one.corner.y >= 0 && one.corner.y + one.height <= picture.height, "{one:?}");
        for other in &picture.boxes[index + 1..] {
            let beside =
                one.corner.x + one.width <= other.corner.x || other.corner.x + other.width <= one.corner.x;
            let below =
                one.corner.y + one.height <= other.corner.y || other.corner.y + other.height <= one.corner.y;
            assert!(beside || below, "{one:?} {other:?}");
        }
    }
}

#[test]
fn a_text_of_a_document_is_a_text_in_an_image() {
    let hostile = "</text><script>alert(1)</script>&\u{1b}[2J\u{0}\u{202e}\u{ffff}";
    let image = Workflow::new(hostile).step(Step::approval(hostile, hostile)).to_svg();
    let (open, _) = read(&image);
    assert!(open.is_empty());
    assert!(!image.contains("<script") && image.contains("&lt;script&gt;"), "{image}");
    assert!(!image.chars().any(|c| (c.is_control() && c != '\n') || "\u{202e}\u{ffff}".contains(c)));
}

#[test]
fn a_workflow_without_steps_has_a_picture_too() {
    let empty = Workflow::new("");
    assert!(empty.to_mermaid().ends_with("    start --> finish\n"));
    assert!(read(&empty.to_svg()).0.is_empty());
}

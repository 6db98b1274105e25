//! Nothing that the user calls like something of the standard library, or like us, gets into the generated code.

mod shadows {
    pub struct Result;
    pub struct Option;
    pub struct String;
    pub struct Vec;
    pub struct Box;
    pub trait From {}
    pub trait Send {}
    pub trait Sized {}
    pub trait AgentOutput {}
    pub trait Deserialize {}
    pub trait JsonSchema {}
    pub struct Problem;
    pub struct OutputFormat;
    pub struct Value;
    #[allow(non_snake_case)]
    pub fn Ok() {}
    #[allow(non_snake_case)]
    pub fn Err() {}
    #[allow(non_snake_case)]
    pub fn Some() {}
    pub mod core {}
    pub mod std {}
    pub mod sandcastle {}
    #[allow(non_upper_case_globals)]
    pub const text: () = ();
    #[allow(non_upper_case_globals)]
    pub const block: () = ();
}

/// Serde and schemars would not survive these two, but a text output needs neither.
#[allow(non_camel_case_types)]
mod shadowed_primitives {
    pub struct str;
    pub struct u32;
}

mod text {
    #[allow(unused_imports)]
    use super::{shadowed_primitives::*, shadows::*};

    fn check(_: &Summary) -> ::std::result::Result<(), ::std::vec::Vec<::sandcastle::output::Problem>> {
        ::std::result::Result::Ok(())
    }

    #[derive(::sandcastle::AgentOutput)]
    #[output(tag = "summary", text, validate = "check")]
    pub struct Summary(pub ::std::string::String);
}

mod json {
    #[allow(unused_imports)]
    use super::shadows::*;

    fn tidy(_: &mut ::serde_json::Value) {}

    #[derive(::serde::Deserialize, ::schemars::JsonSchema, ::sandcastle::AgentOutput)]
    #[output(tag = "report", max_retries = 2, prepare = "tidy")]
    pub struct Report {
        pub title: ::std::string::String,
        pub notes: ::std::vec::Vec<::std::string::String>,
    }
}

fn main() {
    use sandcastle::AgentOutput;

    assert_eq!((text::Summary::TAG, json::Report::TAG), ("summary", "report"));
    let report = json::Report::extract(r#"<report>{"title":"t","notes":[]}</report>"#).unwrap();
    assert_eq!((report.title.as_str(), report.notes.len()), ("t", 0));
    assert!(text::Summary::extract("<summary> fine </summary>").is_ok_and(|summary| summary.0 == "fine"));
}

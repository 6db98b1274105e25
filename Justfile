# The verbs of this repository. Each is a step of `.ci/run`, which works without `just`.

# Lists the verbs.
default:
    @just --list

# Runs everything that continuous integration runs.
ci:
    .ci/run

# Installs what is missing: tools, agent programs.
setup:
    .ci/run tools agents

# Starts the engines and hosts that tests of sandboxes want, as root on Debian.
engines:
    .ci/engines up

# Runs all tests; those of absent agents and engines are skipped by name.
test:
    SANDCASTLE_REQUIRE= .ci/run test

# Checks format, lints and documentation.
lint:
    .ci/run format lint docs

# Formats all sources.
format:
    cargo fmt --all

# Checks that each crate and each feature builds alone.
features:
    .ci/run features

# Runs the example of the README.
quickstart:
    .ci/run quickstart

# Runs the benchmarks.
bench:
    cargo bench --workspace

# Checks licences, advisories and sources of the dependencies.
dependencies:
    .ci/run dependencies

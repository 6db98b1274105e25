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

# Starts the small model that tests of model providers ask, on Linux.
model:
    .ci/model start

# Runs all tests; those of absent agents, engines and models are skipped by name.
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

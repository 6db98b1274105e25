// Counts what snippets cost a model, in tokens of o200k, against the pretty-printed JSON Schema of the same type, and
// checks that the snippet of the default style names every constraint of the schema.
//
//   npm install --prefix .cache/tokenizer gpt-tokenizer@3.4.0
//   node benches/snippet_tokens.mjs
//
// Fails if the default style costs more than half in total, or leaves out a constraint.

import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const require = createRequire(resolve(root, ".cache/tokenizer/package.json"));
const { countTokens } = require("gpt-tokenizer/encoding/o200k_base");

const bench = spawnSync("cargo", ["bench", "--quiet", "--profile", "dev", "--bench", "snippets"], {
  cwd: root,
  encoding: "utf8",
  maxBuffer: 1 << 28,
  stdio: ["ignore", "pipe", "inherit"],
});
if (bench.status !== 0) process.exit(bench.status ?? 1);
const lines = bench.stdout.split("\n").filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));

// Formats of Rust's number types, which no snippet shows.
const RUST_FORMAT = /^(u?int\d*|float|double)$/;
const SIGNS = { minimum: ">=", maximum: "<=", exclusiveMinimum: ">", exclusiveMaximum: "<" };

const exact = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
const bound = (value) => `${exact(`${value}`)}(?:\\.0)?(?![\\d.]*\\d)`;

// How a constraint reads in the default style, as a regular expression; nothing if it demands nothing.
function pattern({ keyword, value }) {
  switch (keyword) {
    case "required":
    case "optional": {
      const key = /^[A-Za-z_$][\w$]*$/.test(value) ? value : JSON.stringify(value);
      return `(?<![\\w$])${exact(key)}${keyword === "required" ? "" : "\\?"}:`;
    }
    case "const":
    case "enum":
      return exact(JSON.stringify(value));
    case "type":
      return { object: "\\{", array: "\\[" }[value] ?? `\\b${value}\\b`;
    case "additionalProperties":
      return value === false ? "no other keys" : null;
    case "uniqueItems":
      return value ? keyword : null;
    case "format":
      return RUST_FORMAT.test(value) ? null : `format ${exact(value)}`;
    default:
      if (typeof value === "number") return `${SIGNS[keyword] ?? `${keyword} `}${bound(value)}`;
      return `${keyword} ${exact(JSON.stringify(value))}`;
  }
}

// Returns the constraints that the text names less often than the schema has them.
function missing({ text, constraints }) {
  const wanted = new Map();
  for (const each of constraints.map(pattern).filter(Boolean)) wanted.set(each, (wanted.get(each) ?? 0) + 1);
  return [...wanted].filter(([each, times]) => [...text.matchAll(new RegExp(each, "g"))].length < times).map(([each]) => each);
}

const percent = (part, whole) => `${((100 * part) / whole).toFixed(1)} %`;
const totals = {};
let schemas = 0;
let failed = false;
console.log("| type | JSON Schema | default | share | json-schema | example |");
console.log("|---|---:|---:|---:|---:|---:|");
for (const type of new Set(lines.map((line) => line.type))) {
  const styles = lines.filter((line) => line.type === type);
  const schema = countTokens(styles[0].pretty_schema);
  const cost = Object.fromEntries(styles.map((line) => [line.style, countTokens(line.text)]));
  const standard = styles.find((line) => line.default);
  schemas += schema;
  for (const [style, count] of Object.entries(cost)) totals[style] = (totals[style] ?? 0) + count;
  const mine = cost[standard.style];
  console.log(`| ${type} | ${schema} | ${mine} | ${percent(mine, schema)} | ${cost["json-schema"]} | ${cost.example} |`);
  for (const each of missing(standard)) {
    console.error(`${type}: \`${each}\` is not named as often as the schema has it`);
    failed = true;
  }
}
const standard = totals[lines.find((line) => line.default).style];
const share = percent(standard, schemas);
console.log(`| **all** | **${schemas}** | **${standard}** | **${share}** | **${totals["json-schema"]}** | **${totals.example}** |`);
const constraints = lines.filter((line) => line.default).flatMap((line) => line.constraints);
console.log(`\n${constraints.length} constraints, ${failed ? "some NOT named" : "all named"}`);
process.exit(failed || standard > schemas / 2 ? 1 : 0);

// Makes the table of docs/STRATEGIES.md of the tries that the two sides print, one JSON object a line:
//
//   {"side": "...", "schema": "...", "strategy": "...", "retries": 0, "success": true, "attempts": 1, "tokens": 97,
//    "failure": null or {"stage": "...", ...}}
//
//   cat .cache/strategies/*.jsonl | node benches/strategies/table.mjs
//
// One row for each side, strategy and schema; in it, without retries and with them: good answers of all tries, attempts and
// tokens of a try on average, and where the others failed. It judges nothing: `success` is what each side found when it held
// the value to the schema of its type.

import { readFileSync } from "node:fs";

const tries = readFileSync(0, "utf8").split("\n").filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
if (tries.length === 0) {
  console.error("no tries: they are read from the input, one JSON object a line");
  process.exit(2);
}

const distinct = (values) => [...new Set(values)];
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

// How often each stage is where a try failed, the most frequent first.
function stages(failed) {
  const names = distinct(failed.map(({ failure }) => failure?.stage ?? "unknown"));
  const counted = names.map((name) => [name, failed.filter(({ failure }) => (failure?.stage ?? "unknown") === name).length]);
  return counted.sort((a, b) => b[1] - a[1]).map(([name, count]) => `${count} ${name}`).join(", ");
}

// The cells of some tries.
function cells(some) {
  if (some.length === 0) return ["", "", "", ""];
  const failed = some.filter(({ success }) => !success);
  return [
    `${some.length - failed.length}/${some.length}`,
    mean(some.map(({ attempts }) => attempts)).toFixed(1),
    mean(some.map(({ tokens }) => tokens ?? 0)).toFixed(0),
    stages(failed),
  ];
}

const retries = distinct(tries.map((one) => one.retries)).sort((a, b) => a - b);
const heads = retries.flatMap((count) => [count === 0 ? "no retry" : `up to ${count}`, "attempts", "tokens", "failed at"]);
const row = (columns) => console.log(`| ${columns.join(" | ")} |`);

row(["schema", "strategy", "side", ...heads]);
console.log(`|---|---|---|${retries.map(() => "---:|---:|---:|---|").join("")}`);
for (const schema of distinct(tries.map((one) => one.schema))) {
  const ofSchema = tries.filter((one) => one.schema === schema);
  for (const key of distinct(ofSchema.map(({ strategy, side }) => JSON.stringify([strategy, side])))) {
    const [strategy, side] = JSON.parse(key);
    const same = ofSchema.filter((one) => one.strategy === strategy && one.side === side);
    row([schema, strategy, side, ...retries.flatMap((count) => cells(same.filter((one) => one.retries === count)))]);
  }
}

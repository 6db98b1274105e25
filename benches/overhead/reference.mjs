// Drives the reference, the TypeScript package, with the agent of this bench; prints the time of each run in milliseconds.
//
//   node reference.mjs REPOSITORY head|merge-to-head AGENT COUNT

import { run } from "@ai-hero/sandcastle";
import { noSandbox } from "@ai-hero/sandcastle/sandboxes/no-sandbox";

const [cwd, type, program, count] = process.argv.slice(2);

const agent = {
  name: "small",
  env: {},
  captureSessions: false,
  buildPrintCommand: ({ prompt }) => ({ command: program, stdin: prompt }),
  parseStreamLine: (line) => [
    { type: "text", text: line },
    { type: "result", result: line },
  ],
};

const times = [];
for (let number = 0; number < Number(count); number++) {
  const begun = process.hrtime.bigint();
  const result = await run({
    agent,
    sandbox: noSandbox(),
    cwd,
    prompt: "Work.",
    branchStrategy: { type },
    logging: { type: "file", path: "/dev/null" },
  });
  times.push(Number(process.hrtime.bigint() - begun) / 1e6);
  if (result.commits.length !== 1 || result.branch !== "main") throw new Error(JSON.stringify(result));
}
// What the package itself prints comes before.
console.log("\n" + JSON.stringify(times));

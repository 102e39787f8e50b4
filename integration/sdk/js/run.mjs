// Starts the emulators, runs the suite against them and stops them.
import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const emulators = spawn("go", ["run", "./serve", "-config", "config.json"], { cwd: here, stdio: ["pipe", "pipe", "inherit"] });
const [line] = await Promise.race([
  once(createInterface({ input: emulators.stdout }), "line"),
  once(emulators, "exit").then(([code]) => {
    throw new Error(`the emulators ended with ${code}`);
  }),
]);
const tests = readdirSync(join(here, "test")).map((name) => join("test", name));
const options = ["--test", "--test-concurrency=1", "--test-timeout=60000", "--test-force-exit"];
const suite = spawn(process.execPath, [...options, ...process.argv.slice(2), ...tests], {
  cwd: here,
  stdio: "inherit",
  env: { ...process.env, ...JSON.parse(line) },
});
const [code] = await once(suite, "exit");
emulators.stdin.end();
await once(emulators, "exit");
process.exitCode = code ?? 1;

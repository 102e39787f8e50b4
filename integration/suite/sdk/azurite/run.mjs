// Starts Azurite's queue service on a free port, runs the storage queue suite and the delivery of jobs to queues against it,
// one after the other, and stops it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const main = join(here, "node_modules", "azurite", "dist", "src", "queue", "main.js");
const options = ["--inMemoryPersistence", "--queueHost", "127.0.0.1", "--queuePort", "0", "--silent", "--disableTelemetry"];
const azurite = spawn(process.execPath, [main, ...options, "--skipApiVersionCheck"], { cwd: here, stdio: ["ignore", "pipe", "inherit"] });
const ended = once(azurite, "exit");

// listening returns the URL that Azurite says it listens on.
async function listening() {
  const said = [];
  for await (const line of createInterface({ input: azurite.stdout })) {
    const [url] = line.match(/http:\/\/127\.0\.0\.1:[1-9]\d*/) ?? [];
    if (url && line.includes("listen")) return url;
    said.push(line);
  }
  throw new Error(`Azurite ended without listening: ${said.join("\n")}`);
}

try {
  const url = await listening();
  azurite.stdout.resume();
  const args = ["test", "-count=1", "-timeout=5m", "-p=1", "-run=StorageQueue", ".", "./delivery", "-azurite", `${url}/devstoreaccount1`];
  const suite = spawn("go", [...args, ...process.argv.slice(2)], { cwd: dirname(here), stdio: ["ignore", "inherit", "inherit"] });
  const [code] = await once(suite, "exit");
  process.exitCode = code ?? 1;
} finally {
  azurite.kill();
  await ended;
}

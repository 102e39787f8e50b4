// Tells the runner in integration/suite/sdk/run what each operation came to: a line of JSON each.
import assert from "node:assert/strict";
import { writeSync } from "node:fs";
import { createRequire } from "node:module";
import net from "node:net";

const patience = 20000; // milliseconds that an operation may take

export const require = createRequire(import.meta.url);

/** Returns the parts of a connection string that the runner put into the environment. */
export function connection(name) {
  const parts = process.env[name].split(";").filter(Boolean);
  return Object.fromEntries(parts.map((part) => [part.slice(0, part.indexOf("=")), part.slice(part.indexOf("=") + 1)]));
}

/** Returns the version of a package of node_modules. */
export function versionOf(name) {
  return require(`./node_modules/${name}/package.json`).version;
}

/** Leads connections with the ports that older clients have built in to those of the emulator. */
export function redirect() {
  const ports = { 5671: port("SERVICEBUS_AMQP"), 443: port("SERVICEBUS_HTTP") };
  const connect = net.Socket.prototype.connect;
  net.Socket.prototype.connect = function (to, ...rest) {
    const options = Array.isArray(to) ? to[0] : to; // net.connect passes what it made of its own arguments
    if (ports[options?.port]) {
      options.port = ports[options.port];
    }
    return connect.call(this, to, ...rest);
  };
}

export function port(name) {
  return Number(process.env[name].split(":").at(-1));
}

/** Does the operations, which are functions by name. What one returns is the milliseconds of a send. */
export async function run(version, operations) {
  // What a client throws where nobody can catch it is the fault of the operation that is under way.
  let stray;
  for (const event of ["uncaughtException", "unhandledRejection"]) {
    process.on(event, (error) => stray?.(error));
  }
  for (const [operation, does] of Object.entries(operations)) {
    const line = { version, operation, result: "pass" };
    const begin = performance.now();
    let timer;
    try {
      const late = new Promise((_, reject) => {
        stray = reject;
        timer = setTimeout(() => reject(new Error(`not done after ${patience} ms`)), patience);
      });
      late.catch(() => {});
      const perSend = await Promise.race([does(), late]);
      if (perSend !== undefined) {
        line.msPerSend = Math.round(perSend * 100) / 100;
      }
    } catch (error) {
      line.result = "fail";
      line.error = explain(error);
    }
    clearTimeout(timer);
    line.ms = Math.round((performance.now() - begin) * 10) / 10;
    writeSync(1, JSON.stringify(line) + "\n");
  }
  // Connections that clients did not close are not waited for.
  process.exit(0);
}

/** Names the error and the line of the suite that it came from. */
function explain(error) {
  const at = /npm\/(?!report|node_modules)[\w]+\.mjs:\d+/.exec(error?.stack ?? "")?.[0];
  return `${error?.name ?? ""} ${error?.code ?? ""}: ${error?.message ?? error} (${at ?? "?"})`.replace(/\s+/g, " ").slice(0, 400);
}

/** Measures sends one after the other: send is called with the text of each. */
export async function sends(send, count = 100) {
  await send("0");
  const begin = performance.now();
  for (let i = 1; i < count; i++) {
    await send(String(i));
  }
  return (performance.now() - begin) / (count - 1);
}

/** Returns the texts 0, 1, … of a series of messages. */
export function series(count = 100) {
  return Array.from({ length: count }, (_, i) => String(i));
}

/** Checks that an operation is refused with one of the codes, by any of the names that clients have for them. */
export async function refused(operation, ...codes) {
  const error = await operation().then(
    () => assert.fail(`not refused with ${codes}`),
    (error) => error,
  );
  if (error.code === "ERR_ASSERTION") {
    throw error;
  }
  // Some clients give one error for all of their tries.
  const errors = [error, ...(error.errors ?? [])];
  const found = errors.flatMap((each) => [each.code, each.statusCode, each.condition, each.name]).map(String);
  assert.ok(codes.some((code) => found.includes(String(code))), `refused with ${found}, want ${codes}: ${error.message}`);
}

// Events that the NATS client for JavaScript publishes: to the subjects of events, and to a subject and a stream of the
// user that sources receive. Each is read back over REST, and starts a run of a job.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { require, run, versionOf } from "./report.mjs";

const name = process.argv[2];
const { connect, headers } = require(name);
const { jetstream, jetstreamManager } = require("@nats-io/jetstream");
const nc = await connect({ servers: process.env.NATS_URL });
const js = jetstream(nc);
const collection = `${process.env.SCHEDULER_ENDPOINT}/jobCollections/default`;

/** Sends a request to the REST API, and returns the answer. */
async function rest(method, path, body) {
  const response = await fetch(`${collection}/${path}`, { method, body: body && JSON.stringify(body) });
  const text = await response.text();
  assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
  return text && JSON.parse(text);
}

/** Repeats a question until it has an answer. */
async function until(question) {
  for (;;) {
    const answer = await question();
    if (answer) {
      return answer;
    }
    await sleep(50);
  }
}

/** Creates a job that an event starts. */
async function listen(event) {
  const action = { type: "http", request: { uri: process.env.TARGET_ENDPOINT, method: "POST", template: true, body: "{{json .Event}}" } };
  await rest("PUT", `jobs/${event}`, { trigger: { on: { source: event } }, action });
}

/** Waits until an event has n runs, and returns their number and the stored events, newest last. */
async function stored(event, n) {
  const runs = await until(async () => {
    const { value } = await rest("GET", `jobs/${event}/history`);
    return value.filter((record) => record.properties.status === "Completed").length >= n && value;
  });
  assert.equal(runs.length, n);
  const { value } = await rest("GET", "events");
  return value.filter((one) => one.name === event).sort((a, b) => a.sequence - b.sequence);
}

function header(fields) {
  const all = headers();
  for (const [field, value] of Object.entries(fields)) {
    all.set(field, value);
  }
  return all;
}

const cloud = { specversion: "1.0", id: "7", source: "/shop", type: "paid" };
const plain = [JSON.stringify({ total: 7 }), { headers: header({ "x-shop": "north" }) }];
const binary = [
  JSON.stringify({ total: 8 }),
  { headers: header({ ...Object.fromEntries(Object.entries(cloud).map(([key, value]) => [`ce-${key}`, value])), "content-type": "application/json" }) },
];
const structured = [
  JSON.stringify({ ...cloud, id: "9", data: { total: 9 } }),
  { headers: header({ "content-type": "application/cloudevents+json" }) },
];

/** Checks the three forms of an event. The ID of one from a stream is its position there; the attribute is the sender's. */
function check([first, second, third]) {
  assert.deepEqual([first.data, first.attributes["x-shop"]], [{ total: 7 }, "north"]);
  for (const [one, total, id] of [[second, 8, "7"], [third, 9, "9"]]) {
    const { type, source, specversion } = one.attributes;
    assert.deepEqual([one.data, one.attributes.id, type, source, specversion], [{ total }, id, "paid", "/shop", "1.0"]);
  }
}

await run(versionOf(name), {
  event: async () => {
    await listen("plain");
    await js.publish("carillon.event.default.plain", ...plain);
    const [one] = await stored("plain", 1);
    assert.deepEqual([one.data, one.attributes["x-shop"]], [{ total: 7 }, "north"]);
  },

  "event twice": async () => {
    await listen("twice");
    const acks = [];
    for (let i = 0; i < 2; i++) {
      acks.push(await js.publish("carillon.event.default.twice", "1", { msgID: "default.twice/one" }));
    }
    assert.deepEqual(acks.map((ack) => ack.duplicate ?? false), [false, true]);
    const all = await stored("twice", 1);
    assert.deepEqual(all.map((one) => one.id), ["one"]);
  },

  "CloudEvent, binary": async () => {
    await listen("binary");
    await js.publish("carillon.event.default.binary", ...binary);
    const [one] = await stored("binary", 1);
    assert.deepEqual([one.data, one.id, one.attributes.type], [{ total: 8 }, "7", "paid"]);
  },

  "CloudEvent, structured": async () => {
    await listen("structured");
    await js.publish("carillon.event.default.structured", ...structured);
    const [one] = await stored("structured", 1);
    assert.deepEqual([one.data, one.id, one.attributes.type], [{ total: 9 }, "9", "paid"]);
  },

  "core subject of a source": async () => {
    await rest("PUT", "sources/core", { type: "nats", nats: { subject: "shop.orders.*" } });
    await until(async () => (await rest("GET", "sources/core")).properties.status?.running);
    await listen("core");
    for (const one of [plain, binary, structured]) {
      nc.publish("shop.orders.new", ...one);
    }
    check(await stored("core", 3));
  },

  "stream of a source": async () => {
    await (await jetstreamManager(nc)).streams.add({ name: "SHOP", subjects: ["shop.stream.>"] });
    await listen("stream");
    await js.publish("shop.stream.new", ...plain);
    await rest("PUT", "sources/stream", { type: "nats", nats: { stream: "SHOP", start: "all" } });
    await js.publish("shop.stream.new", ...binary);
    await js.publish("shop.stream.new", ...structured);
    check(await stored("stream", 3));
  },
});

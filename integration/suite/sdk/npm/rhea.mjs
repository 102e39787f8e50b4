// The Service Bus emulator seen by rhea, an AMQP 1.0 client that knows nothing of Service Bus.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connection as partsOf, port, require, run, sends, series, versionOf } from "./report.mjs";

const rhea = require("rhea");
const WebSocket = require("ws");
const parts = partsOf("SERVICEBUS_CONNECTION_STRING");
const login = { username: parts.SharedAccessKeyName, password: parts.SharedAccessKey };
const ca = readFileSync(process.env.CA_FILE);
const { types } = rhea;

/** Runs a function with a connection, which ends with it. */
async function connected(does, options = {}) {
  const to = { host: "localhost", port: port("SERVICEBUS_AMQP"), transport: "tls", ca, reconnect: false, ...login, ...options };
  const connection = rhea.create_container().connect(to);
  try {
    const opened = once(connection, "connection_open");
    await Promise.race([opened, failure(connection, "connection_error"), failure(connection, "disconnected")]);
    return await does(connection);
  } finally {
    connection.close();
  }
}

async function failure(emitter, event) {
  const [context] = await once(emitter, event);
  throw context.error ?? (context.receiver ?? context.sender ?? context.connection)?.error ?? new Error(event);
}

async function sender(connection, options) {
  const link = connection.open_sender(options);
  await Promise.race([once(link, "sendable"), failure(link, "sender_error")]);
  return link;
}

/** Sends a message and waits until it is accepted. */
async function send(link, message) {
  const delivery = link.send(message);
  for (;;) {
    const [context, outcome] = await Promise.race(["accepted", "rejected"].map(async (e) => [...(await once(link, e)), e]));
    if (context.delivery === delivery) {
      assert.equal(outcome, "accepted");
      return;
    }
  }
}

/** Opens a link and returns it with a function that waits for so many deliveries. Credit is the caller's. */
async function receiver(connection, options) {
  const from = typeof options === "string" ? { source: options } : options;
  const link = connection.open_receiver({ credit_window: 0, autoaccept: false, ...from });
  const got = [];
  link.on("message", (context) => got.push(context));
  await Promise.race([once(link, "receiver_open"), failure(link, "receiver_error")]);
  link.take = async (count) => {
    link.add_credit(count);
    while (got.length < count) {
      await once(link, "message");
    }
    return got.splice(0, count);
  };
  return link;
}

/** Receives messages with these bodies and completes them. */
async function receive(link, want) {
  const got = await link.take(want.length);
  assert.deepEqual(got.map(({ message }) => body(message)), want);
  got.forEach(({ delivery }) => delivery.accept());
}

function body(message) {
  return message.body?.typecode ? message.body.content : message.body;
}

async function empty(connection, queue) {
  await send(await sender(connection, queue), { body: "behind" });
  await receive(await receiver(connection, queue), ["behind"]);
}

/** Checks that a link is detached with an error. As with the service, it is attached first. */
async function refused(link, condition) {
  await once(link, link.is_sender() ? "sender_error" : "receiver_error");
  assert.equal(link.error.condition, condition);
}

/** Runs a function with a sender and a receiver of a queue. */
function queue(name, does) {
  return connected(async (connection) => does(await sender(connection, name), await receiver(connection, name), connection));
}

function session(source, name) {
  return { source: { address: source, filter: { "com.microsoft:session-filter": name } } };
}

await run(versionOf("rhea"), {
  send: () =>
    queue("send", async (to, from) => {
      const perSend = await sends((body) => send(to, { body }));
      await receive(from, series());
      return perSend;
    }),

  "send while receiving": () =>
    queue("both", async (to, from) => {
      const received = receive(from, series());
      const perSend = await sends((body) => send(to, { body }));
      await received;
      return perSend;
    }),

  "large message": () =>
    queue("large", async (to, from) => {
      const body = "0123456789".repeat(90000);
      await send(to, { body });
      await receive(from, [body]);
    }),

  "properties of every type": () =>
    queue("properties", async (to, from) => {
      const time = new Date(1893553445000);
      const fields = { message_id: "id", subject: "label", correlation_id: "c", reply_to: "r", content_type: "t", group_id: "g" };
      await send(to, {
        ...fields,
        body: "m",
        application_properties: {
          text: "ä€", flag: true, int: types.wrap_int(-5), long: types.wrap_long(2 ** 40), double: 1.5, float: types.wrap_float(0.5),
          time: types.wrap_timestamp(time.getTime()), symbol: types.wrap_symbol("s"), uint: types.wrap_uint(7), none: null,
          bytes: Buffer.from([0, 255]), uuid: types.wrap_uuid(Buffer.alloc(16, 7)),
        },
      });
      const [{ message, delivery }] = await from.take(1);
      const got = message.application_properties;
      assert.deepEqual(
        [got.text, got.flag, got.int, got.long, got.double, got.float, Number(got.time), `${got.symbol}`, got.uint, got.none],
        ["ä€", true, -5, 2 ** 40, 1.5, 0.5, time.getTime(), "s", 7, null],
      );
      assert.deepEqual([Buffer.from(got.bytes), Buffer.from(got.uuid)], [Buffer.from([0, 255]), Buffer.alloc(16, 7)]);
      for (const [name, value] of Object.entries(fields)) {
        assert.equal(message[name], value, name);
      }
      assert.ok(message.message_annotations["x-opt-sequence-number"]);
      delivery.accept();
    }),

  "bodies of every type": () =>
    queue("bodies", async (to, from) => {
      await send(to, { body: rhea.message.data_section(Buffer.from("data")) });
      await send(to, { body: rhea.message.sequence_section([1, "x"]) });
      await send(to, { body: { a: [1, "x", null] } });
      await receive(from, [Buffer.from("data"), [1, "x"], { a: [1, "x", null] }]);
    }),

  "receive and delete": () =>
    connected(async (connection) => {
      await send(await sender(connection, "deleting"), { body: "once" });
      const from = await receiver(connection, { source: "deleting", snd_settle_mode: 1 });
      assert.equal(body((await from.take(1))[0].message), "once");
      from.close();
      await empty(connection, "deleting");
    }),

  complete: () =>
    queue("complete", async (to, from, connection) => {
      await send(to, { body: "m" });
      await receive(from, ["m"]);
      await empty(connection, "complete");
    }),

  abandon: () =>
    queue("abandon", async (to, from) => {
      await send(to, { body: "m" });
      (await from.take(1))[0].delivery.modified({ delivery_failed: true, undeliverable_here: false });
      const [{ message, delivery }] = await from.take(1);
      assert.equal(message.delivery_count, 1);
      delivery.release({ delivery_failed: false });
      await receive(from, ["m"]);
    }),

  "dead-letter": () =>
    queue("deadletter", async (to, from, connection) => {
      await send(to, { body: "m" });
      (await from.take(1))[0].delivery.reject({ condition: "com.microsoft:dead-letter", description: "because" });
      await receive(await receiver(connection, "deadletter/$DeadLetterQueue"), ["m"]);
    }),

  "duplicate detection": () =>
    queue("unique", async (to, from) => {
      await send(to, { body: "first", message_id: "same" });
      await send(to, { body: "second", message_id: "same" });
      await send(to, { body: "other", message_id: "other" });
      await receive(from, ["first", "other"]);
    }),

  "session by name": () =>
    connected(async (connection) => {
      const to = await sender(connection, "session");
      for (const i of series(3)) {
        for (const name of ["a", "b"]) {
          await send(to, { body: name + i, group_id: name });
        }
      }
      for (const name of ["b", "a"]) {
        await receive(await receiver(connection, session("session", name)), [`${name}0`, `${name}1`, `${name}2`]);
      }
    }),

  "next session": () =>
    connected(async (connection) => {
      await send(await sender(connection, "next"), { body: "m", group_id: "s" });
      const from = await receiver(connection, session("next", null));
      assert.equal(from.source.filter["com.microsoft:session-filter"], "s");
      await receive(from, ["m"]);
    }),

  "locked session": () =>
    connected(async (connection) => {
      await receiver(connection, session("lockedsession", "s"));
      await refused(connection.open_receiver(session("lockedsession", "s")), "com.microsoft:session-cannot-be-locked");
    }),

  "topic and subscription": () =>
    connected(async (connection) => {
      const to = await sender(connection, "events");
      await send(to, { body: "m", subject: "green" });
      await send(to, { body: "n", subject: "red" });
      await receive(await receiver(connection, "events/subscriptions/all"), ["m", "n"]);
    }),

  "correlation rule": () =>
    connected(async (connection) => {
      await receive(await receiver(connection, "events/subscriptions/red"), ["n"]);
    }),

  push: () =>
    connected(async (connection) => {
      const to = await sender(connection, "push");
      const got = [];
      const from = connection.open_receiver({ source: "push", credit_window: 5 }); // it gives credit and accepts by itself
      from.on("message", ({ message }) => got.push(body(message)));
      for (const body of series(20)) {
        await send(to, { body });
      }
      while (got.length < 20) {
        await once(from, "message");
      }
      assert.deepEqual(got, series(20));
    }),

  "send via": () =>
    connected(async (connection) => {
      const properties = { "com.microsoft:transfer-destination-address": "destination" };
      await send(await sender(connection, { target: "via", properties }), { body: "m" });
      await receive(await receiver(connection, "destination"), ["m"]);
      await empty(connection, "via"); // it went on from there
    }),

  WebSocket: async () => {
    const connect = rhea.websocket_connect(WebSocket);
    const url = `wss://localhost:${port("SERVICEBUS_HTTP")}/$servicebus/websocket`;
    const over = { connection_details: connect(url, ["AMQPWSB10"], { ca }) };
    await connected(async (connection) => {
      await send(await sender(connection, "websocket"), { body: "m".repeat(100000) });
      await receive(await receiver(connection, "websocket"), ["m".repeat(100000)]);
    }, over);
  },

  "unknown entity": () =>
    connected(async (connection) => {
      await refused(connection.open_sender("nowhere"), "amqp:not-found");
      await refused(connection.open_receiver("nowhere"), "amqp:not-found");
    }),

  "wrong key": async () => {
    await assert.rejects(connected(() => {}, { password: "d3Jvbmc=" }));
  },
});

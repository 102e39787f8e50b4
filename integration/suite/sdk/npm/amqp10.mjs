// The Service Bus emulator seen by amqp10, an AMQP 1.0 client with a policy for Service Bus.
import assert from "node:assert/strict";
import { connection as partsOf, require, run, sends, series, versionOf } from "./report.mjs";

const { Client, Policy } = require("amqp10");
const parts = partsOf("SERVICEBUS_CONNECTION_STRING");
const [user, key] = [parts.SharedAccessKeyName, parts.SharedAccessKey].map(encodeURIComponent);

// Messages are settled by the suite, of which each gives credit for another; else the client accepts them by itself.
const settling = Policy.Utils.RenewOnSettle(1, 1, Policy.ServiceBusQueue);

/** Runs a function with a client, which ends with it. */
async function connected(does, password = key, policy = Policy.ServiceBusQueue) {
  // The client has its own reconnecting, which is not what is tested.
  const client = new Client(Policy.merge({ reconnect: { retries: 0, forever: false } }, policy));
  const errors = [];
  client.on("client:errorReceived", (error) => errors.push(error));
  try {
    await client.connect(`amqp://${user}:${password}@${process.env.SERVICEBUS_AMQP}`);
    return await does(client);
  } finally {
    await client.disconnect();
  }
}

/** Receives messages with these bodies and completes them. */
function receive(receiver, want) {
  return new Promise((resolve, reject) => {
    const got = [];
    receiver.on("errorReceived", reject);
    receiver.on("message", (message) => {
      receiver.accept(message);
      if (got.push(message.body) === want.length) {
        receiver.removeAllListeners("message");
        resolve(got);
      }
    });
  }).then((got) => assert.deepEqual(got, want));
}

await run(versionOf("amqp10"), {
  send: () =>
    connected(async (client) => {
      const to = await client.createSender("send");
      const perSend = await sends((body) => to.send(`m${body}`));
      await receive(await client.createReceiver("send"), series().map((body) => `m${body}`));
      return perSend;
    }),

  "send while receiving": () =>
    connected(async (client) => {
      const received = receive(await client.createReceiver("both"), series().map((body) => `m${body}`));
      const to = await client.createSender("both");
      const perSend = await sends((body) => to.send(`m${body}`));
      await received;
      return perSend;
    }),

  "large message": () =>
    connected(async (client) => {
      const to = await client.createSender("large");
      await to.send("0123456789".repeat(20000));
      await receive(await client.createReceiver("large"), ["0123456789".repeat(20000)]);
    }),

  "properties of every type": () =>
    connected(async (client) => {
      const to = await client.createSender("properties");
      const applicationProperties = { text: "ä€", flag: true, int: 5, fraction: 1.5 };
      const from = await client.createReceiver("properties");
      const received = new Promise((resolve) => from.on("message", resolve));
      await to.send({ b: 1 }, { properties: { messageId: "id", subject: "label" }, applicationProperties });
      const message = await received;
      from.accept(message);
      assert.deepEqual([message.properties.messageId, message.properties.subject], ["id", "label"]);
      assert.deepEqual({ ...message.applicationProperties }, applicationProperties);
      assert.deepEqual(message.body, { b: 1 });
    }),

  complete: () =>
    connected(async (client) => {
      const to = await client.createSender("complete");
      const from = await client.createReceiver("complete");
      for (const body of ["m", "behind"]) {
        const received = receive(from, [body]);
        await to.send(body);
        await received;
      }
    }),

  abandon: () =>
    connected(async (client) => {
      const to = await client.createSender("abandon");
      const from = await client.createReceiver("abandon");
      const counts = [];
      const done = new Promise((resolve) =>
        from.on("message", (message) => {
          counts.push(message.header?.deliveryCount ?? 0);
          if (counts.length < 3) {
            from.modify(message, { deliveryFailed: true, undeliverableHere: false });
          } else {
            from.accept(message);
            resolve();
          }
        }),
      );
      await to.send("m");
      await done;
      assert.deepEqual(counts, [0, 1, 2]);
    }, key, settling),

  "dead-letter": () =>
    connected(async (client) => {
      const to = await client.createSender("deadletter");
      const from = await client.createReceiver("deadletter");
      const received = new Promise((resolve) => from.on("message", resolve));
      await to.send("m");
      from.reject(await received, "because");
      await receive(await client.createReceiver("deadletter/$DeadLetterQueue"), ["m"]);
    }, key, settling),

  "topic and subscription": () =>
    connected(
      async (client) => {
        const to = await client.createSender("events");
        await to.send("m", { properties: { subject: "green" } });
        await to.send("n", { properties: { subject: "red" } });
        await receive(await client.createReceiver("events/Subscriptions/all"), ["m", "n"]);
      },
      key,
      Policy.ServiceBusTopic,
    ),

  "correlation rule": () =>
    connected(async (client) => receive(await client.createReceiver("events/Subscriptions/red"), ["n"])),

  "unknown entity": () =>
    connected(async (client) => {
      // As the service does, the link is attached first and then detached with the error.
      const to = await client.createSender("nowhere");
      const error = await new Promise((resolve) => to.once("errorReceived", resolve));
      assert.match(String(error.condition ?? error), /not-found/);
    }),

  "wrong key": () => assert.rejects(connected(() => {}, "wrong")),
});

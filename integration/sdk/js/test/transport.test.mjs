// The ways to the emulator that @azure/service-bus has: AMQP within TLS, and AMQP over WebSocket, which it only does within TLS.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ServiceBusClient } from "@azure/service-bus";
import WebSocket from "ws";

const plain = process.env.SERVICEBUS_CONNECTION_STRING;
const secure = plain.replace("UseDevelopmentEmulator=true;", "");
const web = process.env.SERVICEBUS_ADMIN_CONNECTION_STRING.replace("UseDevelopmentEmulator=true;", "");
const retryOptions = { maxRetries: 0, timeoutInMs: 15000 };
const clients = {
  "AMQP within TLS": () => new ServiceBusClient(secure, { retryOptions }),
  "AMQP over WebSocket": () => new ServiceBusClient(web, { retryOptions, webSocketOptions: { webSocket: WebSocket } }),
};

for (const [name, connect] of Object.entries(clients)) {
  describe(name, () => {
    test("sends, receives and settles", async () => {
      const client = connect();
      const sender = client.createSender("transport");
      const receiver = client.createReceiver("transport");
      const large = "0123456789".repeat(50000); // more than one frame
      await sender.sendMessages([{ body: "small" }]);
      await sender.sendMessages({ body: large });
      for (const body of ["small", large]) {
        const [message] = await receiver.receiveMessages(1, { maxWaitTimeInMs: 10000 });
        assert.equal(message.body, body);
        await receiver.completeMessage(message);
      }
      assert.equal((await receiver.peekMessages(1)).length, 0);
      await client.close();
    });

    test("streams", async () => {
      const client = connect();
      const got = [];
      await new Promise((resolve, reject) => {
        client.createReceiver("transport", { receiveMode: "receiveAndDelete" }).subscribe({
          processMessage: async (message) => got.push(message.body) === 20 && resolve(),
          processError: async (args) => reject(args.error),
        });
        client.createSender("transport").sendMessages(Array.from({ length: 20 }, (_, i) => ({ body: i }))).catch(reject);
      });
      assert.deepEqual(got, Array.from({ length: 20 }, (_, i) => i));
      await client.close();
    });

    test("has sessions and $management", async () => {
      const client = connect();
      const sender = client.createSender("transport-sessions");
      await sender.scheduleMessages({ body: "later", sessionId: name }, new Date(Date.now() + 200));
      const session = await client.acceptNextSession("transport-sessions");
      assert.equal(session.sessionId, name);
      await session.setSessionState({ step: 1 });
      assert.deepEqual(await session.getSessionState(), { step: 1 });
      await session.setSessionState(null);
      const [message] = await session.receiveMessages(1, { maxWaitTimeInMs: 10000 });
      await session.completeMessage(message);
      await client.close();
    });

    test("goes on after the connection was cut", async () => {
      const client = connect();
      const streaming = client.createReceiver("transport-cut");
      let before, after;
      const first = new Promise((resolve) => (before = resolve));
      const second = new Promise((resolve) => (after = resolve));
      streaming.subscribe({
        processMessage: async (message) => (message.body === "before" ? before : after)(),
        processError: async () => {}, // of the cut
      });
      await client.createSender("transport-cut").sendMessages({ body: "before" });
      await first;
      const cut = await fetch(`${process.env.SERVICEBUS_HTTP}/api/disconnect`, { method: "POST" });
      assert.equal(cut.status, 200);
      assert.equal((await cut.json()).connections, 1);
      const other = connect();
      await other.createSender("transport-cut").sendMessages({ body: "after" });
      await second;
      await Promise.all([client.close(), other.close()]);
    });
  });
}

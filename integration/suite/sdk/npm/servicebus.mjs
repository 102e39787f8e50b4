// The Service Bus emulator seen by @azure/service-bus; the argument is which of the packages, for there are several versions.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { connection, port, redirect, refused, require, run, sends, series, versionOf } from "./report.mjs";

redirect(); // versions before 7.9.4 have Azure's ports built in
const name = process.argv[2];
const version = versionOf(name);
const before = (minor) => Number(version.split(".")[1]) < minor;
const { ServiceBusAdministrationClient, ServiceBusClient } = require(name);
const WebSocket = require("ws");

const parts = connection("SERVICEBUS_CONNECTION_STRING");
const key = `SharedAccessKeyName=${parts.SharedAccessKeyName};SharedAccessKey=${parts.SharedAccessKey}`;
const retryOptions = { maxRetries: 1, retryDelayInMs: 50, timeoutInMs: 20000 };
const client = connect();
const admin = new ServiceBusAdministrationClient(`Endpoint=sb://localhost:${port("SERVICEBUS_HTTP")}/;${key}`);

function connect(credential = key, options = {}) {
  return new ServiceBusClient(`Endpoint=sb://localhost/;${credential}`, { retryOptions, ...options });
}

/** Runs a function with a sender and a receiver of a queue. */
async function queue(name, does, options = {}) {
  const sender = client.createSender(name);
  const receiver = client.createReceiver(name, options);
  try {
    return await does(sender, receiver);
  } finally {
    await Promise.all([sender.close(), receiver.close()]);
  }
}

async function one(receiver, body) {
  const got = await receiver.receiveMessages(1, { maxWaitTimeInMs: 20000 });
  assert.deepEqual(bodies(got), [body]);
  return got[0];
}

async function none(receiver) {
  assert.deepEqual(bodies(await receiver.receiveMessages(1, { maxWaitTimeInMs: 400 })), []);
}

function bodies(messages) {
  return messages.map((message) => message.body);
}

async function collect(receiver, count) {
  const got = [];
  while (got.length < count) {
    const some = await receiver.receiveMessages(count - got.length, { maxWaitTimeInMs: 20000 });
    assert.notEqual(some.length, 0, `${got.length} of ${count} messages came`);
    for (const message of some) {
      if (receiver.receiveMode === "peekLock") {
        await receiver.completeMessage(message);
      }
      got.push(message.body);
    }
  }
  return got;
}

const operations = {
  send: async () => {
    const sender = client.createSender("send");
    const perSend = await sends((body) => sender.sendMessages({ body }));
    await sender.close();
    const receiver = client.createReceiver("send");
    assert.deepEqual(await collect(receiver, 100), series());
    await receiver.close();
    return perSend;
  },

  "send while receiving": () =>
    queue("both", async (sender, receiver) => {
      const got = [];
      const done = new Promise((resolve, processError) =>
        receiver.subscribe({
          processMessage: async (message) => got.push(message.body) === 100 && resolve(),
          processError: async ({ error }) => processError(error),
        }),
      );
      const perSend = await sends((body) => sender.sendMessages({ body }));
      await done;
      assert.deepEqual(got, series());
      return perSend;
    }),

  batch: () =>
    queue("batch", async (sender, receiver) => {
      const batch = await sender.createMessageBatch();
      for (const body of series(50)) {
        assert.ok(batch.tryAddMessage({ body }));
      }
      assert.ok(!batch.tryAddMessage({ body: Buffer.alloc(batch.maxSizeInBytes) }));
      await sender.sendMessages(batch);
      await sender.sendMessages(series(60).slice(50).map((body) => ({ body })));
      assert.deepEqual(await collect(receiver, 60), series(60));
    }),

  "large message": () =>
    queue("large", async (sender, receiver) => {
      const body = "0123456789".repeat(90000);
      await sender.sendMessages({ body });
      await receiver.completeMessage(await one(receiver, body));
      await refused(() => sender.sendMessages({ body: Buffer.alloc(1100000) }), "MessageSizeExceeded");
    }),

  "properties of every type": () =>
    queue("properties", async (sender, receiver) => {
      const sent = {
        body: { nested: [1, "two", null] },
        messageId: "id",
        subject: "label",
        to: "to",
        replyTo: "reply",
        replyToSessionId: "s",
        correlationId: "correlation",
        contentType: "application/json",
        partitionKey: "partition",
        timeToLive: 60000,
        applicationProperties: { text: "ä€", number: 5, negative: -5, fraction: 1.5, large: 2 ** 40, flag: true, none: null },
      };
      await sender.sendMessages(sent);
      const [got] = await receiver.receiveMessages(1, { maxWaitTimeInMs: 20000 });
      for (const [name, value] of Object.entries(sent)) {
        assert.deepEqual(got[name], value, name);
      }
      assert.equal(got.deliveryCount, 0);
      await receiver.completeMessage(got);
    }),

  "bodies of every type": () =>
    queue("bodies", async (sender, receiver) => {
      await sender.sendMessages({ bodyType: "data", body: "text", header: { priority: 7 }, footer: { foot: 3 } });
      await sender.sendMessages({ bodyType: "value", body: { a: [1, "x"] }, messageAnnotations: { mine: 2 } });
      await sender.sendMessages({ bodyType: "sequence", body: [1, "x"] });
      for (const [type, body] of [["data", "text"], ["value", { a: [1, "x"] }], ["sequence", [1, "x"]]]) {
        const [got] = await receiver.receiveMessages(1, { maxWaitTimeInMs: 20000 });
        assert.deepEqual([got._rawAmqpMessage.bodyType, got.body], [type, body]);
        await receiver.completeMessage(got);
      }
    }),

  "receive and delete": async () => {
    await queue(
      "deleting",
      async (sender, receiver) => {
        await sender.sendMessages([{ body: "once" }, { body: "twice" }]);
        assert.deepEqual(await collect(receiver, 2), ["once", "twice"]);
      },
      { receiveMode: "receiveAndDelete" },
    );
    await queue("deleting", (_, receiver) => none(receiver));
  },

  complete: () =>
    queue("complete", async (sender, receiver) => {
      await sender.sendMessages({ body: "m" });
      const message = await one(receiver, "m");
      assert.ok(message.lockedUntilUtc > new Date());
      await receiver.completeMessage(message);
      await none(receiver);
    }),

  abandon: () =>
    queue("abandon", async (sender, receiver) => {
      await sender.sendMessages({ body: "m" });
      await receiver.abandonMessage(await one(receiver, "m"), { mark: "seen" });
      const message = await one(receiver, "m");
      assert.deepEqual([message.deliveryCount, message.applicationProperties.mark], [1, "seen"]);
      await receiver.completeMessage(message);
    }),

  defer: () =>
    queue("defer", async (sender, receiver) => {
      await sender.sendMessages(series(5).map((body) => ({ body })));
      const numbers = [];
      while (numbers.length < 5) {
        for (const message of await receiver.receiveMessages(5, { maxWaitTimeInMs: 20000 })) {
          numbers.push(message.sequenceNumber);
          await receiver.deferMessage(message);
        }
      }
      await none(receiver);
      const got = await receiver.receiveDeferredMessages(numbers);
      assert.deepEqual(bodies(got), series(5));
      for (const message of got) {
        await receiver.completeMessage(message);
      }
      await refused(() => receiver.receiveDeferredMessages(numbers[0]), "MessageNotFound");
    }),

  "dead-letter": async () => {
    await queue("deadletter", async (sender, receiver) => {
      await sender.sendMessages({ body: "m" });
      await receiver.deadLetterMessage(await one(receiver, "m"), { deadLetterReason: "why", deadLetterErrorDescription: "because" });
    });
    const dead = client.createReceiver("deadletter", { subQueueType: "deadLetter" });
    const message = await one(dead, "m");
    assert.deepEqual([message.deadLetterReason, message.deadLetterErrorDescription], ["why", "because"]);
    await dead.completeMessage(message);
    await dead.close();
  },

  peek: () =>
    queue("peek", async (sender, receiver) => {
      assert.deepEqual(await receiver.peekMessages(1), []);
      await sender.sendMessages(["a", "b", "c"].map((body) => ({ body })));
      const first = await receiver.peekMessages(2);
      assert.deepEqual(bodies(first), ["a", "b"]);
      assert.deepEqual(bodies(await receiver.peekMessages(5, { fromSequenceNumber: first[1].sequenceNumber.add(1) })), ["c"]);
      await collect(receiver, 3);
    }),

  "schedule and cancel": () =>
    queue("schedule", async (sender, receiver) => {
      const due = new Date(Date.now() + 1000);
      const numbers = await sender.scheduleMessages([{ body: "no" }, { body: "never" }], new Date(Date.now() + 3600000));
      assert.ok(numbers[1].greaterThan(numbers[0]));
      await sender.cancelScheduledMessages(numbers);
      await sender.scheduleMessages({ body: "yes" }, due);
      await receiver.completeMessage(await one(receiver, "yes"));
      assert.ok(new Date() >= due);
      await none(receiver);
    }),

  "renew lock": () =>
    queue("renew", async (sender, receiver) => {
      await sender.sendMessages({ body: "m" });
      const message = await one(receiver, "m");
      const until = message.lockedUntilUtc;
      await sleep(4000);
      assert.ok((await receiver.renewMessageLock(message)) > until);
      await sleep(4000); // renewed by the client itself
      await receiver.completeMessage(message);
    }),

  "lose lock": () =>
    queue(
      "lose",
      async (sender, receiver) => {
        await sender.sendMessages({ body: "m" });
        const message = await one(receiver, "m");
        await sleep(3500);
        await refused(() => receiver.completeMessage(message), "MessageLockLost");
        await receiver.completeMessage(await one(receiver, "m"));
      },
      { maxAutoLockRenewalDurationInMs: 0 },
    ),

  "duplicate detection": () =>
    queue("unique", async (sender, receiver) => {
      await sender.sendMessages({ body: "first", messageId: "same" });
      await sender.sendMessages({ body: "second", messageId: "same" });
      await receiver.completeMessage(await one(receiver, "first"));
      await none(receiver);
    }),

  "session by name": async () => {
    const sender = client.createSender("session");
    const sent = series(3).flatMap((i) => ["a", "b"].map((sessionId) => ({ body: sessionId + i, sessionId })));
    await sender.sendMessages(sent);
    await sender.close();
    for (const name of ["b", "a"]) {
      const receiver = await client.acceptSession("session", name);
      assert.equal(receiver.sessionId, name);
      assert.deepEqual(await collect(receiver, 3), [`${name}0`, `${name}1`, `${name}2`]);
      await receiver.close();
    }
  },

  "next session": async () => {
    const sender = client.createSender("next");
    await sender.sendMessages({ body: "a", sessionId: "a" });
    await sender.sendMessages({ body: "b", sessionId: "b" });
    await sender.close();
    const found = [];
    while (found.length < 2) {
      const receiver = await client.acceptNextSession("next");
      found.push(...(await collect(receiver, 1)));
      assert.equal(receiver.sessionId, found.at(-1));
      await receiver.close();
    }
    assert.deepEqual(found.sort(), ["a", "b"]);
  },

  "no next session": async () => {
    const impatient = connect(key, { retryOptions: { maxRetries: 0, timeoutInMs: 1500 } });
    await refused(() => impatient.acceptNextSession("nosession"), "ServiceTimeout");
    await impatient.close();
  },

  "session state": async () => {
    const state = Buffer.from("\0state");
    let receiver = await client.acceptSession("state", "s");
    assert.ok(!(await receiver.getSessionState()));
    await receiver.setSessionState(state);
    await receiver.close();
    receiver = await client.acceptSession("state", "s");
    assert.deepEqual(Buffer.from(await receiver.getSessionState()), state);
    await receiver.close();
  },

  "renew session lock": async () => {
    const sender = client.createSender("renewsession");
    await sender.sendMessages({ body: "m", sessionId: "s" });
    const receiver = await client.acceptSession("renewsession", "s", { maxAutoLockRenewalDurationInMs: 0 });
    const until = receiver.sessionLockedUntilUtc;
    const message = await one(receiver, "m");
    await sleep(4000);
    assert.ok((await receiver.renewSessionLock()) > until);
    await sleep(4000);
    await receiver.completeMessage(message);
    await Promise.all([sender.close(), receiver.close()]);
  },

  "locked session": async () => {
    const receiver = await client.acceptSession("lockedsession", "s");
    await refused(() => client.acceptSession("lockedsession", "s"), "SessionCannotBeLocked");
    await receiver.close();
    await (await client.acceptSession("lockedsession", "s")).close();
  },

  "topic and subscription": async () => {
    const sender = client.createSender("events");
    await sender.sendMessages([{ body: "m", subject: "green" }, { body: "n", subject: "red" }]);
    const receiver = client.createReceiver("events", "all");
    assert.deepEqual(await collect(receiver, 2), ["m", "n"]);
    await Promise.all([sender.close(), receiver.close()]);
  },

  "correlation rule": async () => {
    const receiver = client.createReceiver("events", "red");
    await receiver.completeMessage(await one(receiver, "n"));
    await none(receiver);
    await receiver.close();
  },

  push: () =>
    queue("push", async (sender, receiver) => {
      const got = [];
      const done = new Promise((resolve, processError) =>
        receiver.subscribe(
          {
            processMessage: async (message) => {
              await receiver.completeMessage(message);
              if (got.push(message.body) === 20) resolve();
            },
            processError: async ({ error }) => processError(error),
          },
          { autoCompleteMessages: false, maxConcurrentCalls: 5 },
        ),
      );
      await sender.sendMessages(series(20).map((body) => ({ body })));
      await done;
      assert.deepEqual(got.sort(), series(20).sort());
    }),

  reconnect: () =>
    queue("reconnect", async (sender, receiver) => {
      await sender.sendMessages({ body: "before" });
      await receiver.completeMessage(await one(receiver, "before"));
      const signed = `${encodeURIComponent("http://localhost/")}\n${Math.ceil(Date.now() / 1000) + 60}`;
      const signature = createHmac("sha256", parts.SharedAccessKey).update(signed).digest("base64");
      const [resource, expiry] = signed.split("\n");
      const authorization = `SharedAccessSignature sr=${resource}&sig=${encodeURIComponent(signature)}&se=${expiry}&skn=${parts.SharedAccessKeyName}`;
      const cut = `http://localhost:${port("SERVICEBUS_HTTP")}/api/disconnect`;
      const answer = await fetch(cut, { method: "POST", headers: { authorization } });
      assert.equal(answer.status, 200);
      await sender.sendMessages({ body: "after" });
      await receiver.completeMessage(await one(receiver, "after"));
    }),

  "development emulator": async () => {
    const plain = new ServiceBusClient(process.env.SERVICEBUS_CONNECTION_STRING, { retryOptions });
    const sender = plain.createSender("development");
    await sender.sendMessages({ body: "m" });
    const receiver = plain.createReceiver("development");
    await receiver.completeMessage(await one(receiver, "m"));
    await plain.close();
  },

  WebSocket: async () => {
    const over = connect(key, { webSocketOptions: { webSocket: WebSocket } });
    const sender = over.createSender("websocket");
    const receiver = over.createReceiver("websocket");
    await sender.sendMessages({ body: "m".repeat(100000) });
    await receiver.completeMessage(await one(receiver, "m".repeat(100000)));
    await over.close();
  },

  "unknown entity": async () => {
    const codes = ["MessagingEntityNotFound"];
    await refused(() => client.createSender("nowhere").sendMessages({ body: "m" }), ...codes);
    await refused(() => client.createReceiver("nowhere").receiveMessages(1, { maxWaitTimeInMs: 1000 }), ...codes);
  },

  "wrong key": async () => {
    const other = connect(`SharedAccessKeyName=${parts.SharedAccessKeyName};SharedAccessKey=d3Jvbmc=`);
    const codes = ["UnauthorizedAccess", "Unauthorized", "UnauthorizedError"];
    await refused(() => other.createSender("send").sendMessages({ body: "m" }), ...codes);
    await other.close();
  },

  "admin queues": async () => {
    const options = { lockDuration: "PT1M30S", maxDeliveryCount: 7, requiresSession: true };
    const made = await admin.createQueue("q1", options);
    assert.deepEqual([made.lockDuration, made.maxDeliveryCount, made.requiresSession], ["PT1M30S", 7, true]);
    await refused(() => admin.createQueue("q1"), "MessageEntityAlreadyExistsError", "MessagingEntityAlreadyExists");
    made.maxDeliveryCount = 8;
    made.userMetadata = `it's "quoted" & <escaped>`;
    await admin.updateQueue(made);
    const got = await admin.getQueue("q1");
    assert.deepEqual([got.maxDeliveryCount, got.userMetadata], [8, made.userMetadata]);
    assert.ok((await all(admin.listQueues())).some(({ name }) => name === "q1"));
    assert.equal(await admin.queueExists("q1"), true);
    assert.ok((await admin.getNamespaceProperties()).name);
    await admin.deleteQueue("q1");
    assert.equal(await admin.queueExists("q1"), false);
  },

  "admin topics": async () => {
    const made = await admin.createTopic("t1", { requiresDuplicateDetection: true });
    made.defaultMessageTimeToLive = "P3D";
    await admin.updateTopic(made);
    assert.equal((await admin.getTopic("t1")).defaultMessageTimeToLive, "P3D");
    assert.ok((await all(admin.listTopics())).some(({ name }) => name === "t1"));
    await admin.deleteTopic("t1");
    assert.equal(await admin.topicExists("t1"), false);
  },

  "admin subscriptions": async () => {
    await admin.createTopic("t2");
    const made = await admin.createSubscription("t2", "s", { lockDuration: "PT30S" });
    made.maxDeliveryCount = 3;
    await admin.updateSubscription(made);
    const got = await admin.getSubscription("t2", "s");
    assert.deepEqual([got.lockDuration, got.maxDeliveryCount], ["PT30S", 3]);
    assert.deepEqual((await all(admin.listSubscriptions("t2"))).map((each) => each.subscriptionName), ["s"]);
    await admin.deleteSubscription("t2", "s");
    assert.equal(await admin.subscriptionExists("t2", "s"), false);
    await admin.deleteTopic("t2");
  },

  "admin rules": async () => {
    const sqlExpression = `color = 'it''s' AND "size" > 5`;
    await admin.createRule("rules", "s", "sql", { sqlExpression }, { sqlExpression: "SET a = 'b'" });
    const made = await admin.getRule("rules", "s", "sql");
    made.action = { sqlExpression: "SET c = 'd'" };
    await admin.updateRule("rules", "s", made);
    const got = await admin.getRule("rules", "s", "sql");
    assert.deepEqual([got.filter.sqlExpression, got.action.sqlExpression], [sqlExpression, "SET c = 'd'"]);
    const wanted = { correlationId: "c", subject: "l", contentType: "t", applicationProperties: { p: "v" } };
    await admin.createRule("rules", "s", "correlation", wanted);
    const { filter } = await admin.getRule("rules", "s", "correlation");
    assert.deepEqual([filter.correlationId, filter.subject, filter.applicationProperties.p], ["c", "l", "v"]);
    const names = (await all(admin.listRules("rules", "s"))).map((rule) => rule.name);
    assert.deepEqual(names.sort(), ["$Default", "correlation", "sql"]);
    await admin.deleteRule("rules", "s", "sql");
    await admin.deleteRule("rules", "s", "correlation");
  },

  "admin rules with parameters": async () => {
    const sqlParameters = { "@text": "it's", "@int": 5, "@long": 2 ** 40, "@float": 1.5, "@flag": true };
    const sqlExpression = "a = @text OR b = @int OR c = @long OR d = @float OR e = @flag";
    await admin.createRule("rules", "s", "parameters", { sqlExpression, sqlParameters });
    const { filter } = await admin.getRule("rules", "s", "parameters");
    assert.equal(filter.sqlExpression, sqlExpression);
    assert.deepEqual(filter.sqlParameters, sqlParameters);
    const applicationProperties = { time: new Date(1577934245000), text: "x", flag: false };
    await admin.createRule("rules", "s", "typed", { applicationProperties });
    assert.deepEqual((await admin.getRule("rules", "s", "typed")).filter.applicationProperties, applicationProperties);
    await admin.deleteRule("rules", "s", "parameters");
    await admin.deleteRule("rules", "s", "typed");
  },

  "admin counts": async () => {
    await admin.createQueue("counted");
    await queue("counted", async (sender, receiver) => {
      await sender.sendMessages(series(3).map((body) => ({ body })));
      await sender.scheduleMessages({ body: "later" }, new Date(Date.now() + 3600000));
      await receiver.deadLetterMessage(await one(receiver, "0"));
    });
    const got = await admin.getQueueRuntimeProperties("counted");
    const counts = [got.activeMessageCount, got.deadLetterMessageCount, got.scheduledMessageCount, got.totalMessageCount];
    assert.deepEqual(counts, [2, 1, 1, 4]);
    await admin.deleteQueue("counted");
  },

  "admin pages": async () => {
    const names = series(120).map((i) => `page${i}`);
    for (const name of names) {
      await admin.createQueue(name);
    }
    const found = (await all(admin.listQueues())).map(({ name }) => name);
    assert.deepEqual(names.filter((name) => !found.includes(name)), []);
    for (const name of names) {
      await admin.deleteQueue(name);
    }
  },

  "admin unknown entity": async () => {
    await refused(() => admin.getQueue("nowhere"), "MessageEntityNotFoundError", "MessagingEntityNotFound", "404");
    await refused(() => admin.deleteTopic("nowhere"), "MessageEntityNotFoundError", "MessagingEntityNotFound", "404");
  },
};

async function all(pages) {
  const found = [];
  for await (const each of pages) {
    found.push(each);
  }
  return found;
}

if (before(2)) {
  delete operations["bodies of every type"]; // it has no way to ask for one
}
if (before(4)) {
  delete operations.reconnect; // a send in the moment of the cut waits for the client's timeout, which is that of an operation
}
if (before(9)) {
  delete operations["no next session"]; // its timeout is that of the server, a minute
  delete operations["development emulator"]; // it takes the port for a part of the host's name
}
await run(version, operations);

// The Service Bus emulator seen by @azure/service-bus.
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import Long from "long";
import { ServiceBusClient } from "@azure/service-bus";

const connection = process.env.SERVICEBUS_CONNECTION_STRING;
const retryOptions = { maxRetries: 1, retryDelayInMs: 50, timeoutInMs: 15000 };
const client = new ServiceBusClient(connection, { retryOptions });
after(() => client.close());

async function one(receiver, body) {
  const messages = await receiver.receiveMessages(1, { maxWaitTimeInMs: 10000 });
  assert.equal(messages.length, 1, `no message where ${body} is due`);
  assert.equal(messages[0].body, body);
  return messages[0];
}

async function none(receiver) {
  assert.equal((await receiver.receiveMessages(1, { maxWaitTimeInMs: 300 })).length, 0);
}

describe("messages", () => {
  const sender = client.createSender("plain");
  const receiver = client.createReceiver("plain");
  after(() => Promise.all([sender.close(), receiver.close()]));

  test("arrive as they were sent", async () => {
    const sent = {
      body: { nested: [1, "two", null] },
      messageId: "id",
      subject: "label",
      to: "to",
      replyTo: "reply",
      correlationId: "correlation",
      contentType: "application/json",
      partitionKey: "partition",
      timeToLive: 60000,
      applicationProperties: { text: "x", number: 5, flag: true },
    };
    await sender.sendMessages(sent);
    const [got] = await receiver.receiveMessages(1, { maxWaitTimeInMs: 10000 });
    for (const [key, value] of Object.entries(sent)) {
      assert.deepEqual(got[key], value, key);
    }
    assert.equal(got.deliveryCount, 0);
    assert.equal(got.state, "active");
    assert.ok(got.lockedUntilUtc > new Date());
    assert.ok(got.sequenceNumber.greaterThan(Long.ZERO));
    await receiver.completeMessage(got);
  });

  test("have all that AMQP has", async () => {
    const sent = {
      bodyType: "data",
      body: "text",
      header: { durable: true, priority: 7 },
      deliveryAnnotations: { hop: 1 },
      messageAnnotations: { mine: 2 },
      footer: { foot: 3 },
    };
    await sender.sendMessages(sent);
    await sender.sendMessages({ bodyType: "value", body: { a: [1, "x"] }, footer: { foot: 4 } });
    await sender.sendMessages({ bodyType: "sequence", body: [1, "x"] });
    const got = [];
    while (got.length < 3) {
      got.push(...(await receiver.receiveMessages(3 - got.length, { maxWaitTimeInMs: 10000 })));
    }
    const [data, value, sequence] = got.map((message) => message._rawAmqpMessage);
    assert.deepEqual(got.map((message) => message.body), ["text", { a: [1, "x"] }, [1, "x"]]);
    assert.deepEqual([data.bodyType, value.bodyType, sequence.bodyType], ["data", "value", "sequence"]);
    assert.deepEqual([data.footer.foot, value.footer.foot], [3, 4]);
    assert.deepEqual([data.deliveryAnnotations.hop, data.messageAnnotations.mine, data.header.priority], [1, 2, 7]);
    await Promise.all(got.map((message) => receiver.completeMessage(message)));
  });

  test("are sent in batches", async () => {
    const batch = await sender.createMessageBatch();
    for (let i = 0; i < 50; i++) {
      assert.ok(batch.tryAddMessage({ body: `batch ${i}` }));
    }
    assert.ok(!batch.tryAddMessage({ body: Buffer.alloc(batch.maxSizeInBytes) }));
    await sender.sendMessages(batch);
    let n = 0;
    while (n < 50) {
      for (const message of await receiver.receiveMessages(50 - n, { maxWaitTimeInMs: 10000 })) {
        assert.equal(message.body, `batch ${n++}`);
        await receiver.completeMessage(message);
      }
    }
    await none(receiver);
  });

  test("may be large", async () => {
    const body = "0123456789".repeat(50000);
    await sender.sendMessages({ body });
    await receiver.completeMessage(await one(receiver, body));
  });

  test("are refused when too large", async () => {
    await assert.rejects(sender.sendMessages({ body: Buffer.alloc(3 << 20) }), { code: "MessageSizeExceeded" });
  });

  test("can be received for good", async () => {
    const deleting = client.createReceiver("plain", { receiveMode: "receiveAndDelete" });
    await sender.sendMessages({ body: "once" });
    await one(deleting, "once");
    await deleting.close();
    await none(receiver);
  });

  test("can be peeked at", async () => {
    assert.equal((await receiver.peekMessages(1)).length, 0);
    await sender.sendMessages([{ body: "first" }, { body: "second" }]);
    const peeked = await receiver.peekMessages(10);
    assert.deepEqual(peeked.map((m) => m.body), ["first", "second"]);
    for (const body of ["first", "second"]) {
      await receiver.completeMessage(await one(receiver, body));
    }
  });

  test("can be scheduled and cancelled", async () => {
    const due = new Date(Date.now() + 700);
    const [no, yes] = await sender.scheduleMessages([{ body: "no" }, { body: "yes" }], due);
    assert.ok(yes.greaterThan(no));
    await sender.cancelScheduledMessages(no);
    await receiver.completeMessage(await one(receiver, "yes"));
    assert.ok(new Date() >= due);
    await none(receiver);
  });

  test("can be streamed", async () => {
    const streaming = client.createReceiver("plain");
    const got = [];
    const errors = [];
    await new Promise((resolve) => {
      streaming.subscribe({
        processMessage: async (message) => {
          got.push(message.body);
          if (got.length === 20) resolve();
        },
        processError: async (args) => errors.push(args.error),
      });
      sender.sendMessages(Array.from({ length: 20 }, (_, i) => ({ body: i })));
    });
    await streaming.close();
    assert.deepEqual(got, Array.from({ length: 20 }, (_, i) => i));
    assert.deepEqual(errors, []);
  });
});

describe("settlement", () => {
  const sender = client.createSender("settle");
  const receiver = client.createReceiver("settle");
  const dead = client.createReceiver("settle", { subQueueType: "deadLetter" });
  after(() => Promise.all([sender.close(), receiver.close(), dead.close()]));

  test("abandon", async () => {
    await sender.sendMessages({ body: "again" });
    await receiver.abandonMessage(await one(receiver, "again"), { why: "busy" });
    const again = await one(receiver, "again");
    assert.equal(again.deliveryCount, 1);
    assert.equal(again.applicationProperties.why, "busy");
    await receiver.completeMessage(again);
  });

  test("too many deliveries", async () => {
    await sender.sendMessages({ body: "poison" });
    for (let i = 0; i < 3; i++) {
      await receiver.abandonMessage(await one(receiver, "poison"));
    }
    const message = await one(dead, "poison");
    assert.equal(message.deadLetterReason, "MaxDeliveryCountExceeded");
    await dead.completeMessage(message);
  });

  test("dead-letter", async () => {
    await sender.sendMessages({ body: "bad" });
    await receiver.deadLetterMessage(await one(receiver, "bad"), {
      deadLetterReason: "because",
      deadLetterErrorDescription: "it is bad",
      extra: "property",
    });
    const message = await one(dead, "bad");
    assert.equal(message.deadLetterReason, "because");
    assert.equal(message.deadLetterErrorDescription, "it is bad");
    assert.equal(message.applicationProperties.extra, "property");
    await dead.completeMessage(message);
  });

  test("defer", async () => {
    await sender.sendMessages({ body: "later" });
    const message = await one(receiver, "later");
    await receiver.deferMessage(message);
    await none(receiver);
    const [deferred] = await receiver.receiveDeferredMessages(message.sequenceNumber);
    assert.equal(deferred.state, "deferred");
    assert.equal(deferred.body, "later");
    await receiver.completeMessage(deferred);
  });

  test("lock renewal and loss", async () => {
    const quick = client.createReceiver("quick", { maxAutoLockRenewalDurationInMs: 0 });
    const quickSender = client.createSender("quick");
    await quickSender.sendMessages({ body: "slow" });
    const message = await one(quick, "slow");
    await sleep(1200);
    assert.ok((await quick.renewMessageLock(message)) > new Date(Date.now() + 1000));
    await sleep(1200);
    await quick.renewMessageLock(message);
    await sleep(2500);
    await assert.rejects(quick.completeMessage(message), { code: "MessageLockLost" });
    await quick.completeMessage(await one(quick, "slow"));
    await Promise.all([quick.close(), quickSender.close()]);
  });
});

describe("sessions", () => {
  const sender = client.createSender("sessions");
  after(() => sender.close());

  test("have their messages and state", async () => {
    await sender.sendMessages([
      { body: "a0", sessionId: "a" },
      { body: "b0", sessionId: "b" },
      { body: "a1", sessionId: "a" },
    ]);
    const a = await client.acceptSession("sessions", "a");
    assert.equal(a.sessionId, "a");
    assert.ok(a.sessionLockedUntilUtc > new Date());
    await assert.rejects(client.acceptSession("sessions", "a"), { code: "SessionCannotBeLocked" });
    for (const body of ["a0", "a1"]) {
      await a.completeMessage(await one(a, body));
    }
    await a.setSessionState({ step: 1 });
    assert.deepEqual(await a.getSessionState(), { step: 1 });
    assert.ok((await a.renewSessionLock()) > new Date());
    const next = await client.acceptNextSession("sessions");
    assert.equal(next.sessionId, "b");
    assert.equal((await next.peekMessages(5)).length, 1);
    await next.completeMessage(await one(next, "b0"));
    await Promise.all([a.close(), next.close()]);
  });

  test("are waited for", async () => {
    const impatient = new ServiceBusClient(connection, { retryOptions: { maxRetries: 0, timeoutInMs: 1500 } });
    await assert.rejects(impatient.acceptNextSession("sessions"), { code: "ServiceTimeout" });
    await impatient.close();
  });

  test("are required", async () => {
    await assert.rejects(sender.sendMessages({ body: "no session" }));
  });
});

describe("topics", () => {
  const sender = client.createSender("events");
  after(() => sender.close());

  test("filter", async () => {
    const all = client.createReceiver("events", "all");
    const red = client.createReceiver("events", "red");
    await sender.sendMessages([{ body: "1", subject: "red" }, { body: "2", subject: "blue" }]);
    await all.completeMessage(await one(all, "1"));
    await all.completeMessage(await one(all, "2"));
    await red.completeMessage(await one(red, "1"));
    await none(red);
    await Promise.all([all.close(), red.close()]);
  });

  test("have rules", async () => {
    const manager = client.createRuleManager("rules", "s");
    const names = async () => {
      const rules = [];
      for await (const rule of manager.listRules()) rules.push(rule);
      return rules;
    };
    assert.deepEqual((await names()).map((rule) => rule.name), ["$Default"]);
    await manager.deleteRule("$Default");
    await manager.createRule("sql", { sqlExpression: "size > 3" }, { sqlExpression: "SET big = true" });
    await manager.createRule("correlation", { subject: "x", applicationProperties: { color: "red" } });
    const rules = await names();
    assert.deepEqual(rules.map((rule) => rule.name).sort(), ["correlation", "sql"]);
    const sql = rules.find((rule) => rule.name === "sql");
    assert.equal(sql.filter.sqlExpression, "size > 3");
    assert.equal(sql.action.sqlExpression, "SET big = true");
    const correlation = rules.find((rule) => rule.name === "correlation");
    assert.equal(correlation.filter.subject, "x");
    assert.deepEqual(correlation.filter.applicationProperties, { color: "red" });
    const ruled = client.createSender("rules");
    await ruled.sendMessages([
      { body: "small", applicationProperties: { size: 2 } },
      { body: "big", applicationProperties: { size: 4 } },
      { body: "red", subject: "x", applicationProperties: { color: "red" } },
    ]);
    const receiver = client.createReceiver("rules", "s");
    const big = await one(receiver, "big");
    assert.equal(big.applicationProperties.big, true);
    await one(receiver, "red");
    await none(receiver);
    await assert.rejects(manager.createRule("sql", { sqlExpression: "1=1" }));
    await assert.rejects(manager.deleteRule("nothing"));
    await Promise.all([receiver.close(), ruled.close()]);
  });
});

test("duplicates are dropped", async () => {
  const sender = client.createSender("unique");
  const receiver = client.createReceiver("unique");
  for (const messageId of ["a", "a", "b"]) await sender.sendMessages({ body: messageId, messageId });
  await one(receiver, "a");
  await one(receiver, "b");
  await none(receiver);
  await Promise.all([sender.close(), receiver.close()]);
});

test("expired messages are dead letters", async () => {
  const sender = client.createSender("expiring");
  await sender.sendMessages({ body: "short", timeToLive: 50 });
  const dead = client.createReceiver("expiring", { subQueueType: "deadLetter" });
  assert.equal((await one(dead, "short")).deadLetterReason, "TTLExpiredException");
  await Promise.all([sender.close(), dead.close()]);
});

test("what does not exist is refused", async () => {
  const sender = client.createSender("nowhere");
  await assert.rejects(sender.sendMessages({ body: "x" }), { code: "MessagingEntityNotFound" });
  const receiver = client.createReceiver("nowhere");
  await assert.rejects(receiver.receiveMessages(1), { code: "MessagingEntityNotFound" });
});

test("a busy server is tried again", async () => {
  const answer = await fetch(`${process.env.SERVICEBUS_HTTP}/api/faults`, {
    method: "POST",
    body: JSON.stringify({ entity: "busy", operation: "send", count: 1, condition: "com.microsoft:server-busy" }),
  });
  assert.equal(answer.status, 200);
  const impatient = new ServiceBusClient(connection, { retryOptions: { maxRetries: 0, timeoutInMs: 5000 } });
  const sender = impatient.createSender("busy");
  await assert.rejects(sender.sendMessages({ body: "x" }), { code: "ServiceBusy" });
  await sender.sendMessages({ body: "x" });
  await impatient.close();
});

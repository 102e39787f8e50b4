// The Service Bus emulator seen by azure-sb, the client before @azure/service-bus, which speaks HTTP alone.
import assert from "node:assert/strict";
import { promisify } from "node:util";
import { connection, port, refused, require, run, sends, series, versionOf } from "./report.mjs";

const azure = require("azure-sb");
const parts = connection("SERVICEBUS_CONNECTION_STRING");
const service = connect(parts.SharedAccessKey);

/** Returns a service whose methods return promises. */
function connect(key) {
  const endpoint = `Endpoint=sb://127.0.0.1:${port("SERVICEBUS_HTTP")}/`;
  const text = `${endpoint};SharedAccessKeyName=${parts.SharedAccessKeyName};SharedAccessKey=${key}`;
  const made = azure.createServiceBusService(text);
  return new Proxy(made, { get: (target, name) => promisify(target[name].bind(target)) });
}

const names = (entities, kind) => entities.map((each) => each[kind]).sort();

await run(versionOf("azure-sb"), {
  send: async () => {
    const perSend = await sends((body) => service.sendQueueMessage("send", body));
    for (const body of series()) {
      assert.equal((await service.receiveQueueMessage("send")).body, body);
    }
    return perSend;
  },

  "REST send": async () => {
    const brokerProperties = { Label: "label", CorrelationId: "c", MessageId: "id", TimeToLive: 60 };
    const customProperties = { text: "it's", number: 5, flag: true, fraction: 1.5 };
    await service.sendQueueMessage("rest", { body: "ä€ <&>", contentType: "text/plain;charset=utf-8", brokerProperties, customProperties });
    const got = await service.receiveQueueMessage("rest");
    assert.deepEqual([got.body, got.contentType], ["ä€ <&>", "text/plain;charset=utf-8"]);
    assert.deepEqual([got.brokerProperties.Label, got.brokerProperties.MessageId], ["label", "id"]);
    assert.deepEqual([got.customProperties.text, got.customProperties.number, got.customProperties.flag], ["it's", 5, true]);
  },

  "REST receive": async () => {
    await service.sendQueueMessage("complete", "m");
    const options = { isPeekLock: true, timeoutIntervalInS: 5 };
    let got = await service.receiveQueueMessage("complete", options);
    await service.unlockMessage(got);
    got = await service.receiveQueueMessage("complete", options);
    assert.equal(got.brokerProperties.DeliveryCount, 2);
    await service.renewLockForMessage(got);
    await service.deleteMessage(got);
    await assert.rejects(service.receiveQueueMessage("complete", { timeoutIntervalInS: 1 }), /No messages/);
  },

  "topic and subscription": async () => {
    await service.sendTopicMessage("events", { body: "m", brokerProperties: { Label: "red" } });
    for (const subscription of ["all", "red"]) {
      assert.equal((await service.receiveSubscriptionMessage("events", subscription)).body, "m");
    }
  },

  "unknown entity": async () => {
    await refused(() => service.sendQueueMessage("nowhere", "m"), 410);
  },

  "wrong key": async () => {
    await refused(() => connect("d3Jvbmc=").sendQueueMessage("send", "m"), 401);
  },

  "admin queues": async () => {
    await service.createQueue("q1", { LockDuration: "PT1M30S", MaxDeliveryCount: 7 });
    await refused(() => service.createQueue("q1"), 409);
    assert.equal(await service.createQueueIfNotExists("q1"), false);
    const got = await service.getQueue("q1");
    assert.deepEqual([got.LockDuration, Number(got.MaxDeliveryCount)], ["PT1M30S", 7]);
    assert.ok(names(await service.listQueues(), "QueueName").includes("q1"));
    await service.deleteQueue("q1");
    await refused(() => service.getQueue("q1"), 404);
  },

  "admin topics": async () => {
    await service.createTopic("t1", { DefaultMessageTimeToLive: "P3D" });
    assert.equal((await service.getTopic("t1")).DefaultMessageTimeToLive, "P3D");
    assert.ok(names(await service.listTopics(), "TopicName").includes("t1"));
    await service.deleteTopic("t1");
    await refused(() => service.getTopic("t1"), 404);
  },

  "admin subscriptions": async () => {
    await service.createTopic("t2");
    await service.createSubscription("t2", "s", { LockDuration: "PT30S" });
    assert.equal((await service.getSubscription("t2", "s")).LockDuration, "PT30S");
    assert.deepEqual(names(await service.listSubscriptions("t2"), "SubscriptionName"), ["s"]);
    await service.deleteSubscription("t2", "s");
    await refused(() => service.getSubscription("t2", "s"), 404);
    await service.deleteTopic("t2");
  },

  "admin rules": async () => {
    const text = `color = 'it''s' AND "size" > 5`;
    await service.createRule("rules", "s", "sql", { sqlExpressionFilter: text, sqlRuleAction: "SET a = 'b'" });
    const got = await service.getRule("rules", "s", "sql");
    assert.deepEqual([got.Filter.SqlExpression, got.Action.SqlExpression], [text, "SET a = 'b'"]);
    await service.createRule("rules", "s", "correlation", { correlationIdFilter: "c" });
    assert.equal((await service.getRule("rules", "s", "correlation")).Filter.CorrelationId, "c");
    assert.deepEqual(names(await service.listRules("rules", "s"), "RuleName"), ["$Default", "correlation", "sql"]);
    await service.deleteRule("rules", "s", "sql");
    await service.deleteRule("rules", "s", "correlation");
  },
});

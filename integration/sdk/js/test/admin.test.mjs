// Administration seen by @azure/service-bus.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ServiceBusAdministrationClient, ServiceBusClient } from "@azure/service-bus";

const admin = new ServiceBusAdministrationClient(process.env.SERVICEBUS_ADMIN_CONNECTION_STRING);

async function all(pages) {
  const items = [];
  for await (const item of pages) items.push(item);
  return items;
}

test("queues", async () => {
  const made = await admin.createQueue("made", { lockDuration: "PT30S", maxDeliveryCount: 7, requiresSession: true, forwardDeadLetteredMessagesTo: "plain" });
  assert.equal(made.name, "made");
  assert.equal(made.lockDuration, "PT30S");
  assert.equal(made.maxDeliveryCount, 7);
  assert.equal(made.requiresSession, true);
  assert.match(made.forwardDeadLetteredMessagesTo, /plain$/);
  await assert.rejects(admin.createQueue("made"), { code: "MessageEntityAlreadyExistsError" });
  made.maxDeliveryCount = 9;
  assert.equal((await admin.updateQueue(made)).maxDeliveryCount, 9);
  assert.equal((await admin.getQueue("made")).maxDeliveryCount, 9);
  assert.ok(await admin.queueExists("made"));
  assert.ok((await all(admin.listQueues())).some((queue) => queue.name === "made"));
  await admin.deleteQueue("made");
  assert.ok(!(await admin.queueExists("made")));
  await assert.rejects(admin.getQueue("made"), { code: "MessageEntityNotFoundError" });
});

test("runtime counts", async () => {
  await admin.createQueue("counted");
  const client = new ServiceBusClient(process.env.SERVICEBUS_CONNECTION_STRING);
  const sender = client.createSender("counted");
  await sender.sendMessages([{ body: "1" }, { body: "2" }]);
  await sender.scheduleMessages({ body: "3" }, new Date(Date.now() + 3600000));
  const properties = await admin.getQueueRuntimeProperties("counted");
  assert.equal(properties.activeMessageCount, 2);
  assert.equal(properties.scheduledMessageCount, 1);
  assert.equal(properties.totalMessageCount, 3);
  assert.ok(properties.sizeInBytes > 0);
  assert.ok((await all(admin.listQueuesRuntimeProperties())).some((queue) => queue.name === "counted"));
  await client.close();
  await admin.deleteQueue("counted");
});

test("topics, subscriptions and rules", async () => {
  await admin.createTopic("news", { requiresDuplicateDetection: true });
  assert.equal((await admin.getTopic("news")).requiresDuplicateDetection, true);
  assert.ok((await all(admin.listTopics())).some((topic) => topic.name === "news"));
  const subscription = await admin.createSubscription("news", "s", {
    maxDeliveryCount: 4,
    defaultRuleOptions: { name: "first", filter: { sqlExpression: "a = @a", sqlParameters: { "@a": "x" } } },
  });
  assert.equal(subscription.maxDeliveryCount, 4);
  subscription.lockDuration = "PT10S";
  assert.equal((await admin.updateSubscription(subscription)).lockDuration, "PT10S");
  assert.equal((await admin.getTopicRuntimeProperties("news")).subscriptionCount, 1);
  assert.equal((await admin.getSubscriptionRuntimeProperties("news", "s")).activeMessageCount, 0);
  await admin.createRule("news", "s", "second", { subject: "x", applicationProperties: { n: 5, b: true, t: "text" } },
    { sqlExpression: "SET y = 1" });
  const rules = await all(admin.listRules("news", "s"));
  assert.deepEqual(rules.map((rule) => rule.name).sort(), ["first", "second"]);
  const first = await admin.getRule("news", "s", "first");
  assert.equal(first.filter.sqlExpression, "a = @a");
  assert.deepEqual(first.filter.sqlParameters, { "@a": "x" });
  const second = await admin.getRule("news", "s", "second");
  assert.deepEqual(second.filter.applicationProperties, { n: 5, b: true, t: "text" });
  assert.equal(second.action.sqlExpression, "SET y = 1");
  second.action = { sqlExpression: "SET y = 2" };
  assert.equal((await admin.updateRule("news", "s", second)).action.sqlExpression, "SET y = 2");
  await admin.deleteRule("news", "s", "second");
  assert.deepEqual((await all(admin.listSubscriptions("news"))).map((s) => s.subscriptionName), ["s"]);
  await admin.deleteSubscription("news", "s");
  await admin.deleteTopic("news");
  assert.ok(!(await admin.topicExists("news")));
});

test("namespace", async () => {
  assert.equal((await admin.getNamespaceProperties()).name, "sbemulatorns");
});

// Where keys are strict, the right one does everything, and no other anything.
test("strict keys", async () => {
  const { STRICT_CONNECTION_STRING: bus, STRICT_ADMIN_CONNECTION_STRING: administration } = process.env;
  const retryOptions = { maxRetries: 0, timeoutInMs: 15000 };
  const owner = new ServiceBusAdministrationClient(administration);
  await owner.createQueue("guarded");
  await owner.createTopic("guarded-topic");
  await owner.createSubscription("guarded-topic", "s");
  assert.deepEqual((await all(owner.listRules("guarded-topic", "s"))).map((rule) => rule.name), ["$Default"]);
  assert.deepEqual((await all(owner.listQueues())).map((queue) => queue.name), ["guarded"]);
  const client = new ServiceBusClient(bus, { retryOptions });
  await client.createSender("guarded").sendMessages({ body: "x" });
  assert.equal((await client.createReceiver("guarded").peekMessages(1)).length, 1);
  await client.close();

  const wrong = (text) => text.replace(/SharedAccessKey=[^;]*/, "SharedAccessKey=wrong");
  await assert.rejects(new ServiceBusAdministrationClient(wrong(administration)).getQueue("guarded"), { statusCode: 401 });
  const stranger = new ServiceBusClient(wrong(bus), { retryOptions });
  await assert.rejects(stranger.createSender("guarded").sendMessages({ body: "x" }), { code: "UnauthorizedAccess" });
  await stranger.close();
});

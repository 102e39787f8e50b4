// The storage queue emulator seen by @azure/storage-queue.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  QueueSASPermissions,
  QueueServiceClient,
  StorageSharedKeyCredential,
  generateQueueSASQueryParameters,
} from "@azure/storage-queue";

const connection = process.env.STORAGE_CONNECTION_STRING;
const service = QueueServiceClient.fromConnectionString(connection);
const queue = service.getQueueClient("orders");

before(() => queue.create({ metadata: { owner: "me" } }));
after(() => queue.delete());

test("a queue has properties", async () => {
  assert.ok(await queue.exists());
  const properties = await queue.getProperties();
  assert.equal(properties.metadata.owner, "me");
  assert.equal(properties.approximateMessagesCount, 0);
  await queue.setMetadata({ owner: "you" });
  assert.equal((await queue.getProperties()).metadata.owner, "you");
  assert.equal((await queue.createIfNotExists()).succeeded, false);
});

test("queues are listed in pages", async () => {
  for (const name of ["page-a", "page-b", "page-c"]) await service.createQueue(name);
  const names = [];
  for await (const page of service.listQueues({ prefix: "page-" }).byPage({ maxPageSize: 2 })) {
    assert.ok(page.queueItems.length <= 2);
    names.push(...page.queueItems.map((item) => item.name));
  }
  assert.deepEqual(names, ["page-a", "page-b", "page-c"]);
  for (const name of names) await service.deleteQueue(name);
});

test("messages come and go", async () => {
  const sent = await queue.sendMessage("hello <world>", { messageTimeToLive: 60 });
  assert.ok(sent.messageId);
  const peeked = await queue.peekMessages();
  assert.equal(peeked.peekedMessageItems[0].messageText, "hello <world>");
  const { receivedMessageItems: [got] } = await queue.receiveMessages({ visibilityTimeout: 30 });
  assert.equal(got.messageId, sent.messageId);
  assert.equal(got.dequeueCount, 1);
  assert.equal((await queue.receiveMessages()).receivedMessageItems.length, 0);
  const updated = await queue.updateMessage(got.messageId, got.popReceipt, "changed", 0);
  await assert.rejects(queue.deleteMessage(got.messageId, got.popReceipt), { statusCode: 400, code: "PopReceiptMismatch" });
  const { receivedMessageItems: [again] } = await queue.receiveMessages();
  assert.equal(again.messageText, "changed");
  assert.equal(again.dequeueCount, 2);
  assert.notEqual(again.popReceipt, updated.popReceipt);
  await queue.deleteMessage(again.messageId, again.popReceipt);
});

test("a queue is cleared", async () => {
  await queue.sendMessage("a");
  await queue.sendMessage("b");
  await queue.clearMessages();
  assert.equal((await queue.getProperties()).approximateMessagesCount, 0);
});

test("what does not exist is not found", async () => {
  await assert.rejects(service.getQueueClient("nowhere").sendMessage("x"), { statusCode: 404, code: "QueueNotFound" });
});

test("a signature permits what it says", async () => {
  const fields = Object.fromEntries(connection.split(";").filter(Boolean).map((field) => {
    const at = field.indexOf("=");
    return [field.slice(0, at), field.slice(at + 1)];
  }));
  const credential = new StorageSharedKeyCredential(fields.AccountName, fields.AccountKey);
  const signature = generateQueueSASQueryParameters(
    { queueName: "orders", permissions: QueueSASPermissions.parse("a"), expiresOn: new Date(Date.now() + 60000) },
    credential,
  );
  const limited = new QueueServiceClient(`${fields.QueueEndpoint}?${signature}`).getQueueClient("orders");
  await limited.sendMessage("by signature");
  await assert.rejects(limited.receiveMessages(), { statusCode: 403, code: "AuthorizationPermissionMismatch" });
});

test("a wrong key is refused", async () => {
  const wrong = QueueServiceClient.fromConnectionString(connection.replace(/AccountKey=[^;]*/, "AccountKey=d3Jvbmc="), {
    retryOptions: { maxTries: 1 },
  });
  await assert.rejects(wrong.getQueueClient("orders").getProperties(), { statusCode: 403 });
});

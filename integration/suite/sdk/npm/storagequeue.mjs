// The storage queue emulator seen by @azure/storage-queue; the argument is which of the packages, for there are several versions.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { connection, refused, require, run, sends, series, versionOf } from "./report.mjs";

const name = process.argv[2];
const sdk = require(name);
const text = process.env.STORAGE_CONNECTION_STRING;
const parts = connection("STORAGE_CONNECTION_STRING");
const retryOptions = { maxTries: 1 };
const service = sdk.QueueServiceClient.fromConnectionString(text, { retryOptions });
const credential = new sdk.StorageSharedKeyCredential(parts.AccountName, parts.AccountKey);

async function queue(name) {
  const client = service.getQueueClient(name);
  await client.create();
  return client;
}

function withSAS(name, sas) {
  return new sdk.QueueClient(`${parts.QueueEndpoint}/${name}?${sas}`, new sdk.AnonymousCredential(), { retryOptions });
}

async function take(client, options) {
  return (await client.receiveMessages(options)).receivedMessageItems;
}

const texts = (messages) => messages.map((message) => message.messageText);
const inAnHour = () => new Date(Date.now() + 3600000);

await run(versionOf(name), {
  queues: async () => {
    const names = series(7).map((i) => `list${i}`);
    for (const name of names) {
      await service.createQueue(name, { metadata: { n: name } });
    }
    await refused(() => service.createQueue("list0", { metadata: { other: "x" } }), "QueueAlreadyExists", 409);
    const pages = [];
    for await (const page of service.listQueues({ prefix: "list", includeMetadata: true }).byPage({ maxPageSize: 3 })) {
      pages.push(page.queueItems);
    }
    assert.deepEqual(pages.map((page) => page.length), [3, 3, 1]);
    assert.deepEqual(pages.flat().map((each) => [each.name, each.metadata.n]), names.map((name) => [name, name]));
    for (const name of names) {
      await service.deleteQueue(name);
    }
    await refused(() => service.deleteQueue("list0"), "QueueNotFound", 404);
  },

  "queue metadata": async () => {
    const client = await queue("metadata");
    await client.setMetadata({ one: "1", two: "b c" });
    await client.sendMessage("m");
    const got = await client.getProperties();
    assert.deepEqual([{ ...got.metadata }, got.approximateMessagesCount], [{ one: "1", two: "b c" }, 1]);
  },

  "put and get": async () => {
    const client = await queue("putget");
    // No line breaks: the newer versions take them out of what they send.
    for (const body of ["plain", `ä€ 漢字 <&>"'`, "a\ttab", "x".repeat(60000)]) {
      const sent = await client.sendMessage(body);
      const [got] = await take(client);
      assert.deepEqual([got.messageText, got.messageId, got.dequeueCount], [body, sent.messageId, 1]);
      await client.deleteMessage(got.messageId, got.popReceipt);
    }
    await refused(() => client.sendMessage("x".repeat(70000)), "RequestBodyTooLarge", 413, 400);
  },

  "put one by one": async () => {
    const client = await queue("onebyone");
    const perSend = await sends((body) => client.sendMessage(body));
    assert.equal((await client.getProperties()).approximateMessagesCount, 100);
    return perSend;
  },

  "get several": async () => {
    const client = await queue("several");
    for (const body of series(40)) {
      await client.sendMessage(body);
    }
    const first = await take(client, { numberOfMessages: 32, visibilityTimeout: 60 });
    const rest = await take(client, { numberOfMessages: 32, visibilityTimeout: 60 });
    assert.deepEqual([first.length, ...texts([...first, ...rest])], [32, ...series(40)]);
  },

  "peek messages": async () => {
    const client = await queue("peek");
    assert.deepEqual((await client.peekMessages()).peekedMessageItems, []);
    for (const body of series(3)) {
      await client.sendMessage(body);
    }
    const peeked = await client.peekMessages({ numberOfMessages: 2 });
    assert.deepEqual(texts(peeked.peekedMessageItems), ["0", "1"]);
    assert.equal((await take(client))[0].dequeueCount, 1);
  },

  update: async () => {
    const client = await queue("update");
    await client.sendMessage("before");
    const [got] = await take(client);
    const changed = await client.updateMessage(got.messageId, got.popReceipt, "after", 0);
    await refused(() => client.updateMessage(got.messageId, got.popReceipt, "late"), "PopReceiptMismatch", 400);
    assert.notEqual(changed.popReceipt, got.popReceipt);
    assert.deepEqual(texts(await take(client)), ["after"]);
  },

  delete: async () => {
    const client = await queue("delete");
    await client.sendMessage("m");
    const [got] = await take(client);
    await client.deleteMessage(got.messageId, got.popReceipt);
    await refused(() => client.deleteMessage(got.messageId, got.popReceipt), "MessageNotFound", 404);
    assert.deepEqual(await take(client), []);
  },

  clear: async () => {
    const client = await queue("clear");
    await client.sendMessage("m");
    await client.clearMessages();
    assert.deepEqual((await client.peekMessages()).peekedMessageItems, []);
  },

  visibility: async () => {
    const client = await queue("visibility");
    await client.sendMessage("later", { visibilityTimeout: 3600 });
    assert.deepEqual(await take(client), []);
    await client.sendMessage("soon", { visibilityTimeout: 1 });
    await sleep(1500);
    assert.deepEqual(texts(await take(client, { visibilityTimeout: 1 })), ["soon"]);
    await sleep(1500);
    assert.equal((await take(client))[0].dequeueCount, 2);
  },

  "time to live": async () => {
    const client = await queue("ttl");
    await client.sendMessage("brief", { messageTimeToLive: 1 });
    await client.sendMessage("for ever", { messageTimeToLive: -1 });
    await sleep(1500);
    assert.deepEqual(texts(await take(client, { numberOfMessages: 5 })), ["for ever"]);
  },

  "access policy": async () => {
    const client = await queue("policy");
    const accessPolicy = { startsOn: new Date("2020-01-02"), expiresOn: inAnHour(), permissions: "rp" };
    await client.setAccessPolicy([{ id: "readers", accessPolicy }]);
    const got = await client.getAccessPolicy();
    assert.deepEqual(got.signedIdentifiers, [{ id: "readers", accessPolicy }]);
    const identity = { queueName: "policy", identifier: "readers" };
    const reader = withSAS("policy", sdk.generateQueueSASQueryParameters(identity, credential));
    assert.deepEqual((await reader.peekMessages()).peekedMessageItems, []);
    await refused(() => reader.sendMessage("m"), "AuthorizationPermissionMismatch", 403);
    await client.setAccessPolicy([]);
    await refused(() => reader.peekMessages(), 403);
  },

  SAS: async () => {
    await queue("sas");
    const permissions = sdk.QueueSASPermissions.parse("a");
    const values = { queueName: "sas", permissions, expiresOn: inAnHour() };
    const adder = withSAS("sas", sdk.generateQueueSASQueryParameters(values, credential));
    await adder.sendMessage("m");
    await refused(() => adder.receiveMessages(), "AuthorizationPermissionMismatch", 403);
    const account = sdk.generateAccountSASQueryParameters(
      {
        permissions: sdk.AccountSASPermissions.parse("rlp"),
        resourceTypes: sdk.AccountSASResourceTypes.parse("sco").toString(),
        services: sdk.AccountSASServices.parse("q").toString(),
        expiresOn: inAnHour(),
      },
      credential,
    );
    assert.deepEqual(texts(await take(withSAS("sas", account))), ["m"]);
    await refused(() => withSAS("another", account).create(), 403);
  },

  "service properties": async () => {
    const retentionPolicy = { enabled: true, days: 5 };
    await service.setProperties({
      queueAnalyticsLogging: { version: "1.0", read: true, write: true, deleteProperty: false, retentionPolicy },
      hourMetrics: { version: "1.0", enabled: true, includeAPIs: true, retentionPolicy },
      cors: [{ allowedOrigins: "https://example.org", allowedMethods: "GET", allowedHeaders: "", exposedHeaders: "", maxAgeInSeconds: 9 }],
    });
    const got = await service.getProperties();
    assert.deepEqual([got.queueAnalyticsLogging.read, got.hourMetrics.retentionPolicy.days], [true, 5]);
    assert.deepEqual(got.cors.map((rule) => rule.allowedOrigins), ["https://example.org"]);
  },

  "unknown queue": async () => {
    const client = service.getQueueClient("nowhere");
    for (const operation of ["receiveMessages", "peekMessages", "clearMessages", "getProperties", "delete"]) {
      await refused(() => client[operation](), "QueueNotFound", 404);
    }
  },

  "wrong account key": async () => {
    const wrong = new sdk.StorageSharedKeyCredential(parts.AccountName, "d3Jvbmc=");
    const client = new sdk.QueueServiceClient(parts.QueueEndpoint, wrong, { retryOptions });
    await refused(() => client.getProperties(), "AuthenticationFailed", 403);
  },
});

// The storage queue emulator seen by azure-storage, the client before @azure/storage-queue.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { connection, refused, require, run, sends, series, versionOf } from "./report.mjs";

const azure = require("azure-storage");
const parts = connection("STORAGE_CONNECTION_STRING");
const raw = azure.createQueueService(process.env.STORAGE_CONNECTION_STRING);
const service = promised(raw);

/** Gives a service whose methods return promises. */
function promised(service) {
  return new Proxy(service, {
    get: (target, name) => (typeof target[name] === "function" ? promisify(target[name].bind(target)) : target[name]),
  });
}

const texts = (messages) => messages.map((message) => message.messageText);
const inAnHour = () => new Date(Date.now() + 3600000);

await run(versionOf("azure-storage"), {
  queues: async () => {
    const names = series(7).map((i) => `list${i}`);
    for (const name of names) {
      await service.createQueue(name, { metadata: { n: name } });
    }
    await refused(() => service.createQueue("list0", { metadata: { other: "x" } }), "QueueAlreadyExists");
    const options = { maxResults: 4, include: "metadata" };
    const first = await service.listQueuesSegmentedWithPrefix("list", null, options);
    const rest = await service.listQueuesSegmentedWithPrefix("list", first.continuationToken, options);
    assert.deepEqual([...first.entries, ...rest.entries].map((each) => [each.name, each.metadata.n]), names.map((n) => [n, n]));
    for (const name of names) {
      await service.deleteQueue(name);
    }
    assert.equal((await service.doesQueueExist("list0")).exists, false);
  },

  "queue metadata": async () => {
    await service.createQueue("metadata");
    await service.setQueueMetadata("metadata", { one: "1", two: "b c" });
    await service.createMessage("metadata", "m");
    const got = await service.getQueueMetadata("metadata");
    assert.deepEqual([got.metadata, got.approximateMessageCount], [{ one: "1", two: "b c" }, 1]);
  },

  "put and get": async () => {
    await service.createQueue("putget");
    for (const body of ["plain", `ä€ 漢字 <&>"'`, "x".repeat(40000)]) {
      await service.createMessage("putget", body);
      const got = await service.getMessage("putget");
      assert.deepEqual([got.messageText, Number(got.dequeueCount)], [body, 1]);
      await service.deleteMessage("putget", got.messageId, got.popReceipt);
    }
  },

  "put one by one": async () => {
    await service.createQueue("onebyone");
    return sends((body) => service.createMessage("onebyone", body));
  },

  "get several": async () => {
    await service.createQueue("several");
    for (const body of series(5)) {
      await service.createMessage("several", body);
    }
    assert.deepEqual(texts(await service.getMessages("several", { numOfMessages: 32 })), series(5));
  },

  "peek messages": async () => {
    await service.createQueue("peek");
    for (const body of series(3)) {
      await service.createMessage("peek", body);
    }
    assert.deepEqual(texts(await service.peekMessages("peek", { numOfMessages: 2 })), ["0", "1"]);
  },

  update: async () => {
    await service.createQueue("update");
    await service.createMessage("update", "before");
    const got = await service.getMessage("update");
    await service.updateMessage("update", got.messageId, got.popReceipt, 0, { messageText: "after" });
    const late = () => service.updateMessage("update", got.messageId, got.popReceipt, 0, { messageText: "late" });
    await refused(late, "PopReceiptMismatch", "MessageNotFound");
    assert.equal((await service.getMessage("update")).messageText, "after");
  },

  delete: async () => {
    await service.createQueue("delete");
    await service.createMessage("delete", "m");
    const got = await service.getMessage("delete");
    await service.deleteMessage("delete", got.messageId, got.popReceipt);
    await refused(() => service.deleteMessage("delete", got.messageId, got.popReceipt), "MessageNotFound");
  },

  clear: async () => {
    await service.createQueue("clear");
    await service.createMessage("clear", "m");
    await service.clearMessages("clear");
    assert.deepEqual(await service.peekMessages("clear"), []);
  },

  visibility: async () => {
    await service.createQueue("visibility");
    await service.createMessage("visibility", "later", { visibilityTimeout: 3600 });
    assert.deepEqual(await service.getMessages("visibility"), []);
    await service.createMessage("visibility", "soon", { visibilityTimeout: 1 });
    await sleep(1500);
    assert.deepEqual(texts(await service.getMessages("visibility")), ["soon"]);
  },

  "time to live": async () => {
    await service.createQueue("ttl");
    await service.createMessage("ttl", "brief", { messageTimeToLive: 1 });
    await sleep(1500);
    assert.deepEqual(await service.getMessages("ttl"), []);
  },

  "access policy": async () => {
    await service.createQueue("policy");
    const policy = { Permissions: "rp", Start: new Date("2020-01-02"), Expiry: inAnHour() };
    await service.setQueueAcl("policy", { readers: policy });
    const got = await service.getQueueAcl("policy");
    assert.equal(got.signedIdentifiers.readers.Permissions, "rp");
    const sas = raw.generateSharedAccessSignature("policy", { Id: "readers" });
    const reader = promised(azure.createQueueServiceWithSas(parts.QueueEndpoint, sas));
    assert.deepEqual(await reader.peekMessages("policy"), []);
    await refused(() => reader.createMessage("policy", "m"), 403, "AuthorizationPermissionMismatch");
  },

  SAS: async () => {
    await service.createQueue("sas");
    const sas = raw.generateSharedAccessSignature("sas", { AccessPolicy: { Permissions: "a", Expiry: inAnHour() } });
    const adder = promised(azure.createQueueServiceWithSas(parts.QueueEndpoint, sas));
    await adder.createMessage("sas", "m");
    await refused(() => adder.getMessages("sas"), 403, "AuthorizationPermissionMismatch");
  },

  "service properties": async () => {
    const got = await service.getServiceProperties();
    got.Logging = { Version: "1.0", Delete: true, Read: true, Write: true, RetentionPolicy: { Enabled: true, Days: 5 } };
    await service.setServiceProperties(got);
    assert.equal((await service.getServiceProperties()).Logging.RetentionPolicy.Days, 5);
  },

  "unknown queue": async () => {
    await refused(() => service.createMessage("nowhere", "m"), "QueueNotFound");
    await refused(() => service.getMessages("nowhere"), "QueueNotFound");
  },

  "wrong account key": async () => {
    const other = promised(azure.createQueueService(parts.AccountName, "d3Jvbmc=", parts.QueueEndpoint));
    await refused(() => other.getServiceProperties(), "AuthenticationFailed", 403);
  },
});

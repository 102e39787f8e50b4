// The scheduler seen by azure-arm-scheduler, the management client of Azure Scheduler: every operation that it has, by a
// base address and a token that is none.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { refused, require, run, versionOf } from "./report.mjs";

const name = process.argv[2];
const moment = require("moment");
const { TokenCredentials } = require("ms-rest");
const SchedulerManagementClient = require(name);
const subscription = "623d50f1-4fa8-4e46-a967-a9214aed43ab";
const group = "CS-SouthCentralUS-scheduler";
const options = { noRetryPolicy: true, longRunningOperationRetryTimeout: 1 };
const client = new SchedulerManagementClient(new TokenCredentials("none"), subscription, process.env.SCHEDULER_ENDPOINT, options);
const { jobCollections, jobs } = client;
const uncalled = watched({ jobCollections, jobs });

const idOf = (rest) => `/subscriptions/${subscription}/resourceGroups/${group}/providers/Microsoft.Scheduler/jobCollections/${rest}`;
const standard = { location: "South Central US", properties: { sku: { name: "Standard" }, state: "Enabled" } };
const request = { uri: process.env.TARGET_ENDPOINT, method: "GET" };
const later = { properties: { startTime: new Date("2099-01-01"), action: { type: "Http", request }, state: "Enabled" } };

/** Names the operations that the client has, in a set from which each is removed when it is called. */
function watched(groups) {
  const names = new Set();
  for (const [group, operations] of Object.entries(groups)) {
    for (const [name, operation] of Object.entries(operations)) {
      if (name.startsWith("_") && typeof operation === "function") {
        names.add(`${group}.${name.slice(1)}`);
        operations[name] = (...rest) => {
          names.delete(`${group}.${name.slice(1)}`);
          return operation.apply(operations, rest);
        };
      }
    }
  }
  assert.ok(names.size >= 22, `only ${[...names]} are operations`);
  return names;
}

async function collection(name, definition = standard) {
  return jobCollections.createOrUpdate(group, name, definition);
}

/** Repeats an operation while the job's last run is being ended. */
async function onceFree(operation) {
  for (;;) {
    try {
      return await operation();
    } catch (error) {
      assert.equal(error.statusCode, 409, error.message);
      await sleep(50);
    }
  }
}

/** Follows the links of a page to the last one. */
async function pages(first, next) {
  const all = [];
  for (let page = await first; ; page = await next(page.nextLink)) {
    all.push([...page]);
    if (!page.nextLink) {
      return all;
    }
  }
}

await run(versionOf(name), {
  "create collections": async () => {
    const quota = { maxJobCount: 50, maxJobOccurrence: 1000, maxRecurrence: { frequency: "Minute", interval: 1 } };
    const wish = { name: "made", location: "South Central US", tags: { department: "marketing" }, properties: { ...standard.properties, quota } };
    const made = await jobCollections.createOrUpdateWithHttpOperationResponse(group, "made", wish);
    assert.equal(made.response.statusCode, 201);
    assert.equal((await jobCollections.createOrUpdateWithHttpOperationResponse(group, "made", wish)).response.statusCode, 200);
    const got = await jobCollections.get(group, "made");
    assert.deepEqual([got.id, got.type, got.name], [idOf("made"), "Microsoft.Scheduler/jobCollections", "made"]);
    assert.deepEqual([got.location, got.tags, got.properties.sku.name], [wish.location, wish.tags, "Standard"]);
    assert.deepEqual([got.properties.state, got.properties.quota.maxJobCount], ["Enabled", 50]);
    assert.equal(got.properties.quota.maxRecurrence.interval, 1);
    await collection("suspended", { properties: { sku: { name: "P10Premium" }, state: "Suspended" } });
    assert.equal((await jobCollections.get(group, "suspended")).properties.state, "Suspended");
  },

  "patch collections": async () => {
    await collection("patched");
    const got = await jobCollections.patch(group, "patched", { properties: { quota: { maxJobCount: 7 } } });
    assert.deepEqual([got.properties.sku.name, got.properties.quota.maxJobCount], ["Standard", 7]);
  },

  "list collections": async () => {
    await collection("listed");
    const elsewhere = "another-group";
    await jobCollections.createOrUpdate(elsewhere, "listed", standard);
    // The lists are whole, so that nothing else follows their links.
    const link = (scope) => `${process.env.SCHEDULER_ENDPOINT}/subscriptions/${subscription}${scope}/providers/Microsoft.Scheduler/jobCollections?api-version=2016-03-01`;
    assert.equal((await jobCollections.listByResourceGroupNext(link(`/resourceGroups/${elsewhere}`))).length, 1);
    assert.ok((await jobCollections.listBySubscriptionNext(link(""))).length > 1);
    const names = (list) => list.flat().map((each) => each.id);
    const ofGroup = names(await pages(jobCollections.listByResourceGroup(group), (link) => jobCollections.listByResourceGroupNext(link)));
    const ofAll = names(await pages(jobCollections.listBySubscription(), (link) => jobCollections.listBySubscriptionNext(link)));
    assert.ok(ofGroup.includes(idOf("listed")) && !ofGroup.some((id) => id.includes(elsewhere)));
    assert.ok(ofGroup.every((id) => ofAll.includes(id)) && ofAll.some((id) => id.includes(elsewhere)));
  },

  "delete collections": async () => {
    await collection("deleted");
    await jobs.createOrUpdate(group, "deleted", "j", later);
    await jobCollections.deleteMethod(group, "deleted");
    await refused(() => jobCollections.get(group, "deleted"), "ResourceNotFound", 404);
    await collection("deleted");
    await jobCollections.beginDeleteMethod(group, "deleted");
    await refused(() => jobs.get(group, "deleted", "j"), "ResourceNotFound", 404);
  },

  "turn collections": async () => {
    await collection("turned");
    await jobs.createOrUpdate(group, "turned", "j", later);
    const state = async () => (await jobCollections.get(group, "turned")).properties.state;
    await jobCollections.disable(group, "turned");
    assert.equal(await state(), "Disabled");
    assert.equal((await jobs.get(group, "turned", "j")).properties.state, "enabled");
    await jobCollections.enable(group, "turned");
    assert.equal(await state(), "Enabled");
    await jobCollections.beginDisable(group, "turned");
    await jobCollections.beginEnable(group, "turned");
    assert.equal(await state(), "Enabled");
  },

  "create jobs": async () => {
    await collection("creating");
    const errorAction = { type: "StorageQueue", queueMessage: { storageAccount: "account1", queueName: "queue1", sasToken: "sv=1&sig=s", message: "m" } };
    const recurrence = { frequency: "Week", interval: 1, count: 10000, endTime: new Date("2099-10-10"), schedule: { weekDays: ["Monday"], hours: [5, 10], minutes: [0, 30] } };
    const retryPolicy = { retryType: "Fixed", retryInterval: moment.duration(1, "minute"), retryCount: 2 };
    const job = { properties: { startTime: new Date("2015-07-13"), action: { type: "Http", request: { ...request, headers: { a: "b" } }, retryPolicy, errorAction }, recurrence, state: "Enabled" } };
    assert.equal((await jobs.createOrUpdateWithHttpOperationResponse(group, "creating", "j", job)).response.statusCode, 201);
    const got = await jobs.createOrUpdate(group, "creating", "j", job);
    assert.deepEqual([got.id, got.type, got.name], [idOf("creating/jobs/j"), "Microsoft.Scheduler/jobCollections/jobs", "creating/j"]);
    const { action, recurrence: recurs, status, state } = got.properties;
    assert.deepEqual([action.type, action.request.uri, action.request.headers], ["Http", request.uri, { a: "b" }]);
    assert.deepEqual([action.retryPolicy.retryCount, action.retryPolicy.retryType], [2, "fixed"]);
    assert.equal(action.retryPolicy.retryInterval.asSeconds(), 60);
    assert.deepEqual([action.errorAction.queueMessage.message, action.errorAction.queueMessage.sasToken], ["m", undefined]);
    assert.deepEqual([recurs.frequency, recurs.count, recurs.schedule.hours, recurs.schedule.weekDays], ["week", 10000, [5, 10], ["Monday"]]);
    assert.deepEqual([status.executionCount, status.failureCount, status.faultedCount, state], [0, 0, 0, "enabled"]);
    assert.ok(status.nextExecutionTime > new Date());
    await jobs.createOrUpdate(group, "creating", "j", later);
    assert.equal((await jobs.get(group, "creating", "j")).properties.recurrence, undefined);
  },

  "authentication of jobs": async () => {
    await collection("authenticating");
    const put = (authentication) =>
      jobs.createOrUpdate(group, "authenticating", "j", {
        properties: { startTime: new Date("2099-01-01"), action: { type: "Https", request: { uri: "https://example.org/", method: "GET", authentication } } },
      });
    const basic = (await put({ type: "Basic", username: "u", password: "secret" })).properties.action.request.authentication;
    assert.deepEqual([basic.type, basic.username, basic.password], ["Basic", "u", undefined]);
    const wish = { type: "ActiveDirectoryOAuth", tenant: "t.example.org", audience: "https://a.example.org/", clientId: "i", secret: "secret" };
    const oauth = (await put(wish)).properties.action.request.authentication;
    assert.deepEqual([oauth.type, oauth.tenant, oauth.clientId, oauth.secret], ["ActiveDirectoryOAuth", "t.example.org", "i", undefined]);
  },

  "Service Bus jobs": async () => {
    await collection("bus");
    const message = {
      namespace: "n", queueName: "q", transportType: "AMQP", message: "m", customMessageProperties: { a: "b" },
      authentication: { type: "SharedAccessKey", sasKeyName: "k", sasKey: "c2VjcmV0" },
      brokeredMessageProperties: { contentType: "text/plain", label: "l", timeToLive: moment.duration(5, "minutes"), scheduledEnqueueTimeUtc: new Date("2099-01-02") },
    };
    const job = { properties: { startTime: new Date("2099-01-01"), action: { type: "ServiceBusQueue", serviceBusQueueMessage: message } } };
    const got = (await jobs.createOrUpdate(group, "bus", "j", job)).properties.action.serviceBusQueueMessage;
    assert.deepEqual([got.queueName, got.message, got.customMessageProperties], ["q", "m", { a: "b" }]);
    assert.deepEqual([got.authentication.sasKeyName, got.authentication.sasKey], ["k", undefined]);
    assert.deepEqual([got.brokeredMessageProperties.label, got.brokeredMessageProperties.timeToLive.asMinutes()], ["l", 5]);
  },

  "patch jobs": async () => {
    await collection("patching");
    const recurrence = { frequency: "Week", interval: 1, count: 10000, endTime: new Date("2099-10-10") };
    await jobs.createOrUpdate(group, "patching", "j", { properties: { ...later.properties, recurrence } });
    const got = await jobs.patch(group, "patching", "j", { properties: { recurrence: { frequency: "Day", interval: 1 } } });
    assert.deepEqual([got.properties.recurrence.frequency, got.properties.recurrence.count], ["day", 10000]);
    assert.equal((await jobs.patch(group, "patching", "j", { properties: { state: "Disabled" } })).properties.state, "disabled");
    await refused(() => jobs.patch(group, "patching", "j", { properties: { state: "Completed" } }), 400);
  },

  "list jobs": async () => {
    await collection("listing");
    for (let i = 0; i < 7; i++) {
      await jobs.createOrUpdate(group, "listing", `j${i}`, i === 3 ? { properties: { ...later.properties, state: "Disabled" } } : later);
    }
    const all = await pages(jobs.list(group, "listing", { top: 3 }), (link) => jobs.listNext(link));
    assert.deepEqual(all.map((page) => page.map((job) => job.name.split("/")[1])), [["j0", "j1", "j2"], ["j3", "j4", "j5"], ["j6"]]);
    assert.deepEqual((await jobs.list(group, "listing", { skip: 5 })).map((job) => job.name), ["listing/j5", "listing/j6"]);
    assert.deepEqual((await jobs.list(group, "listing", { filter: "state eq 'Disabled'" })).map((job) => job.name), ["listing/j3"]);
  },

  "run jobs and history": async () => {
    await collection("running");
    await jobs.createOrUpdate(group, "running", "j", later);
    for (let i = 1; i <= 3; i++) {
      await onceFree(() => jobs.run(group, "running", "j"));
      while ((await jobs.listJobHistory(group, "running", "j")).length < i) {
        await sleep(50);
      }
    }
    const all = await pages(jobs.listJobHistory(group, "running", "j", { top: 2, filter: "status eq 'Completed'" }), (link) => jobs.listJobHistoryNext(link));
    assert.deepEqual(all.map((page) => page.length), [2, 1]);
    const [newest] = all[0];
    assert.ok(newest.id.startsWith(idOf("running/jobs/j/history/")) && newest.name.startsWith("running/j/"));
    assert.equal(newest.type, "Microsoft.Scheduler/jobCollections/jobs/history");
    assert.deepEqual([newest.properties.actionName, newest.properties.status, newest.properties.retryCount], ["MainAction", "Completed", 0]);
    assert.ok(newest.properties.startTime instanceof Date && newest.properties.endTime >= newest.properties.startTime);
    const ids = all.flat().map((record) => record.id);
    assert.deepEqual(ids, [...ids].sort());
    assert.equal((await jobs.listJobHistory(group, "running", "j", { skip: 1 })).length, 2);
    assert.equal((await jobs.listJobHistory(group, "running", "j", { filter: "status eq 'Failed'" })).length, 0);
  },

  "delete jobs": async () => {
    await collection("emptied");
    await jobs.createOrUpdate(group, "emptied", "j", later);
    await jobs.deleteMethod(group, "emptied", "j");
    await refused(() => jobs.get(group, "emptied", "j"), "ResourceNotFound", 404);
  },

  quotas: async () => {
    await collection("few", { properties: { sku: { name: "Standard" }, quota: { maxJobCount: 1 } } });
    await jobs.createOrUpdate(group, "few", "j", later);
    await refused(() => jobs.createOrUpdate(group, "few", "k", later), "Conflict", 409);
  },

  "request ids": async () => {
    const { response } = await jobCollections.listBySubscriptionWithHttpOperationResponse({ customHeaders: { "x-ms-correlation-request-id": "c1" } });
    assert.match(response.headers["x-ms-request-id"], /^[0-9a-f-]{36}$/);
    assert.equal(response.headers["x-ms-correlation-request-id"], "c1");
    assert.match(response.headers["x-ms-client-request-id"], /^[0-9a-f-]{36}$/);
  },

  "unknown version": async () => {
    const other = new SchedulerManagementClient(new TokenCredentials("none"), subscription, process.env.SCHEDULER_ENDPOINT, options);
    other.apiVersion = "2014-04-01";
    await refused(() => other.jobCollections.listBySubscription(), "InvalidApiVersionParameter", 400);
  },

  "every operation": async () => assert.deepEqual([...uncalled], [], "not called by any case above"),
});

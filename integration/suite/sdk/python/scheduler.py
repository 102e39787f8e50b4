"""The scheduler seen by azure-mgmt-scheduler of Debian's python3-azure, the management client of Azure Scheduler."""

import os
import time
from datetime import datetime, timedelta, timezone

from azure.core.exceptions import HttpResponseError, ResourceExistsError, ResourceNotFoundError
from azure.core.pipeline.policies import BearerTokenCredentialPolicy
from azure.mgmt.scheduler import SchedulerManagementClient
from azure.mgmt.scheduler import models as m
from azure.mgmt.scheduler._version import VERSION as version

from report import equal, refused, run

subscription = "623d50f1-4fa8-4e46-a967-a9214aed43ab"
group = "CS-SouthCentralUS-scheduler"
base = f"/subscriptions/{subscription}/resourceGroups/{group}/providers/Microsoft.Scheduler/jobCollections/"


class Credential:
    """Gives a token that is none."""

    def get_token(self, *_, **__):
        from azure.core.credentials import AccessToken

        return AccessToken("none", int(time.time()) + 3600)


class Anywhere(BearerTokenCredentialPolicy):
    """Sends the token without TLS, too."""

    @staticmethod
    def _enforce_https(_):
        pass


client = SchedulerManagementClient(
    Credential(),
    subscription,
    os.environ["SCHEDULER_ENDPOINT"],
    authentication_policy=Anywhere(Credential(), "none/.default"),
    retry_total=0,
    polling_interval=0,
)
collections, jobs = client.job_collections, client.jobs


def collection(name, sku="Standard", where=group, **properties):
    wish = m.JobCollectionDefinition(
        name=name,
        location="South Central US",
        tags={"a": "b"},
        properties=m.JobCollectionProperties(sku=m.Sku(name=sku), state="Enabled", **properties),
    )
    return collections.create_or_update(where, name, wish)


def job(state="Enabled", start=datetime(2099, 1, 1, tzinfo=timezone.utc), recurrence=None, **action):
    request = m.HttpRequest(uri=os.environ["TARGET_ENDPOINT"], method="GET", headers={"a": "b"})
    return m.JobDefinition(
        properties=m.JobProperties(
            start_time=start,
            action=m.JobAction(type="Http", request=action.pop("request", request), **action),
            recurrence=recurrence,
            state=state,
        )
    )


def create_collections():
    quota = m.JobCollectionQuota(max_job_count=50, max_job_occurrence=1000, max_recurrence=m.JobMaxRecurrence(frequency="Minute", interval=1))
    collection("made", quota=quota)
    collection("made", quota=quota)
    got = collections.get(group, "made")
    equal((got.id, got.type, got.name), (base + "made", "Microsoft.Scheduler/jobCollections", "made"))
    equal((got.location, got.tags, got.properties.sku.name, got.properties.state), ("South Central US", {"a": "b"}, "Standard", "Enabled"))
    equal((got.properties.quota.max_job_count, got.properties.quota.max_recurrence.interval), (50, 1))


def patch_collections():
    collection("patched")
    patch = m.JobCollectionDefinition(properties=m.JobCollectionProperties(quota=m.JobCollectionQuota(max_job_count=7)))
    got = collections.patch(group, "patched", patch)
    equal((got.properties.sku.name, got.properties.quota.max_job_count, got.tags), ("Standard", 7, {"a": "b"}))


def list_collections():
    collection("listed")
    collection("listed", where="another")
    of_group = [each.id for each in collections.list_by_resource_group(group)]
    of_all = [each.id for each in collections.list_by_subscription()]
    equal((base + "listed" in of_group, [each for each in of_group if "another" in each]), (True, []))
    equal((set(of_group) < set(of_all), len([each for each in of_all if "/another/" in each])), (True, 1))


def delete_collections():
    collection("deleted")
    jobs.create_or_update(group, "deleted", "j", job())
    collections.begin_delete(group, "deleted").result()
    refused(lambda: collections.get(group, "deleted"), ResourceNotFoundError)
    refused(lambda: jobs.get(group, "deleted", "j"), ResourceNotFoundError)


def turn_collections():
    collection("turned")
    jobs.create_or_update(group, "turned", "j", job())
    collections.begin_disable(group, "turned").result()
    equal(collections.get(group, "turned").properties.state, "Disabled")
    equal(jobs.get(group, "turned", "j").properties.state, "enabled")
    collections.begin_enable(group, "turned").result()
    equal(collections.get(group, "turned").properties.state, "Enabled")


def create_jobs():
    collection("creating")
    end = datetime(2099, 10, 10, 10, 10, 10, tzinfo=timezone.utc)
    schedule = m.JobRecurrenceSchedule(week_days=["Monday"], hours=[5, 10], minutes=[0, 30])
    recurrence = m.JobRecurrence(frequency="Week", interval=1, count=10000, end_time=end, schedule=schedule)
    queue = m.StorageQueueMessage(storage_account="account1", queue_name="queue1", sas_token="sv=1&sig=s", message="m")
    wish = job(
        start=datetime(2015, 7, 13, tzinfo=timezone.utc),
        recurrence=recurrence,
        retry_policy=m.RetryPolicy(retry_type="Fixed", retry_interval=timedelta(minutes=1), retry_count=2),
        error_action=m.JobErrorAction(type="StorageQueue", queue_message=queue),
    )
    got = jobs.create_or_update(group, "creating", "j", wish)
    equal((got.id, got.type, got.name), (base + "creating/jobs/j", "Microsoft.Scheduler/jobCollections/jobs", "creating/j"))
    action = got.properties.action
    equal((action.type, action.request.headers, action.retry_policy.retry_interval), ("Http", {"a": "b"}, timedelta(minutes=1)))
    equal((action.error_action.queue_message.message, action.error_action.queue_message.sas_token), ("m", None))
    recurs = got.properties.recurrence
    equal((recurs.frequency, recurs.count, recurs.end_time, recurs.schedule.hours), ("week", 10000, end, [5, 10]))
    status = got.properties.status
    equal((status.execution_count, status.failure_count, status.faulted_count), (0, 0, 0))
    equal(status.next_execution_time > datetime.now(timezone.utc), True)
    jobs.create_or_update(group, "creating", "j", job())
    equal(jobs.get(group, "creating", "j").properties.recurrence, None)


def authentication():
    collection("authenticating")

    def put(auth):
        request = m.HttpRequest(uri="https://example.org/", method="GET", authentication=auth)
        return jobs.create_or_update(group, "authenticating", "j", job(request=request)).properties.action.request.authentication

    basic = put(m.BasicAuthentication(username="u", password="secret"))
    equal((type(basic), basic.username, basic.password), (m.BasicAuthentication, "u", None))
    oauth = put(m.OAuthAuthentication(tenant="t.example.org", audience="https://a.example.org/", client_id="i", secret="secret"))
    equal((type(oauth), oauth.tenant, oauth.client_id, oauth.secret), (m.OAuthAuthentication, "t.example.org", "i", None))


def service_bus_jobs():
    collection("bus")
    message = m.ServiceBusQueueMessage(
        namespace="n",
        queue_name="q",
        transport_type="AMQP",
        message="m",
        custom_message_properties={"a": "b"},
        authentication=m.ServiceBusAuthentication(type="SharedAccessKey", sas_key_name="k", sas_key="c2VjcmV0"),
        brokered_message_properties=m.ServiceBusBrokeredMessageProperties(label="l", time_to_live=timedelta(minutes=5)),
    )
    wish = m.JobDefinition(
        properties=m.JobProperties(
            start_time=datetime(2099, 1, 1, tzinfo=timezone.utc),
            action=m.JobAction(type="ServiceBusQueue", service_bus_queue_message=message),
        )
    )
    got = jobs.create_or_update(group, "bus", "j", wish).properties.action.service_bus_queue_message
    equal((got.queue_name, got.custom_message_properties, got.authentication.sas_key), ("q", {"a": "b"}, None))
    equal(got.brokered_message_properties.time_to_live, timedelta(minutes=5))


def patch_jobs():
    collection("patching")
    recurrence = m.JobRecurrence(frequency="Week", interval=1, count=10000)
    jobs.create_or_update(group, "patching", "j", job(recurrence=recurrence))
    patch = m.JobDefinition(properties=m.JobProperties(recurrence=m.JobRecurrence(frequency="Day", interval=1)))
    got = jobs.patch(group, "patching", "j", patch)
    equal((got.properties.recurrence.frequency, got.properties.recurrence.count), ("day", 10000))
    off = m.JobDefinition(properties=m.JobProperties(state="Disabled"))
    equal(jobs.patch(group, "patching", "j", off).properties.state, "disabled")
    over = m.JobDefinition(properties=m.JobProperties(state="Completed"))
    refused(lambda: jobs.patch(group, "patching", "j", over), HttpResponseError)


def list_jobs():
    collection("listing")
    for i in range(7):
        jobs.create_or_update(group, "listing", f"j{i}", job("Disabled" if i == 3 else "Enabled"))
    names = [f"listing/j{i}" for i in range(7)]
    equal([each.name for each in jobs.list(group, "listing", top=3)], names)
    equal([len(list(page)) for page in jobs.list(group, "listing", top=3).by_page()], [3, 3, 1])
    equal([each.name for each in jobs.list(group, "listing", skip=5)], names[5:])
    equal([each.name for each in jobs.list(group, "listing", filter="state eq 'Disabled'")], ["listing/j3"])


def once_free(operation):
    """Repeats an operation while the job's last run is being ended."""
    while True:
        try:
            return operation()
        except ResourceExistsError:
            time.sleep(0.05)


def run_jobs():
    collection("running")
    jobs.create_or_update(group, "running", "j", job())
    for i in range(1, 4):
        once_free(lambda: jobs.run(group, "running", "j"))
        while len(list(jobs.list_job_history(group, "running", "j"))) < i:
            time.sleep(0.05)
    records = list(jobs.list_job_history(group, "running", "j", top=2, filter="status eq 'Completed'"))
    equal((len(records), [each.id for each in records]), (3, sorted(each.id for each in records)))
    newest = records[0]
    equal(newest.id.startswith(base + "running/jobs/j/history/"), True)
    equal((newest.properties.action_name, newest.properties.status, newest.properties.retry_count), ("MainAction", "Completed", 0))
    equal(newest.properties.end_time >= newest.properties.start_time, True)
    equal(list(jobs.list_job_history(group, "running", "j", filter="status eq 'Failed'")), [])


def delete_jobs():
    collection("emptied")
    jobs.create_or_update(group, "emptied", "j", job())
    jobs.delete(group, "emptied", "j")
    refused(lambda: jobs.get(group, "emptied", "j"), ResourceNotFoundError)


def quotas():
    collection("few", quota=m.JobCollectionQuota(max_job_count=1))
    jobs.create_or_update(group, "few", "j", job())
    error = refused(lambda: jobs.create_or_update(group, "few", "k", job()), ResourceExistsError)
    equal((error.status_code, error.error.code), (409, "Conflict"))


def request_ids():
    seen = {}
    list(collections.list_by_subscription(raw_response_hook=lambda response: seen.update(response.http_response.headers)))
    equal({name.lower() for name in seen} >= {"x-ms-request-id", "x-ms-correlation-request-id"}, True)


run(
    version,
    {
        "create collections": create_collections,
        "patch collections": patch_collections,
        "list collections": list_collections,
        "delete collections": delete_collections,
        "turn collections": turn_collections,
        "create jobs": create_jobs,
        "authentication of jobs": authentication,
        "Service Bus jobs": service_bus_jobs,
        "patch jobs": patch_jobs,
        "list jobs": list_jobs,
        "run jobs and history": run_jobs,
        "delete jobs": delete_jobs,
        "quotas": quotas,
        "request ids": request_ids,
    },
)

package admin

import (
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
)

// What entities have by default.
const (
	defaultLock       = time.Minute
	defaultWindow     = 10 * time.Minute
	defaultDeliveries = 10
)

func (q *query) listQueues() {
	queues := q.broker.Queues()
	q.writeFeed("Queues", len(queues), func(i int) entry { return q.queueEntry(queues[i]) })
}

// putQueue makes or changes a queue.
func (q *query) putQueue(name string, d *description) (_ entry, err error) {
	var info broker.QueueInfo
	put := q.broker.CreateQueue
	if q.updating() {
		put = q.broker.UpdateQueue
		info, err = q.broker.Queue(name)
	}
	if err == nil {
		err = d.apply(q.queueMembers(&info))
	}
	if err == nil {
		setRules(&info.Options.AuthorizationRules, d.rules)
		info, err = put(name, info.Options)
	}
	return q.queueEntry(info), err
}

func (q *query) queueEntry(info broker.QueueInfo) entry {
	d := &description{members: q.queueMembers(&info)}
	return q.newEntry(info.Name, info.Name, info.Usage.Created, info.Usage.Updated, content{Queue: d})
}

func (q *query) queueMembers(info *broker.QueueInfo) []member {
	o, u := &info.Options, info.Usage
	return []member{
		span("LockDuration", &o.LockDuration, defaultLock),
		size("MaxSizeInMegabytes", &o.MaxSize, megabyte, unlimitedMegabytes),
		flag("RequiresDuplicateDetection", &o.DuplicateDetection),
		flag("RequiresSession", &o.RequiresSession),
		span("DefaultMessageTimeToLive", &o.DefaultTTL, 0),
		flag("DeadLetteringOnMessageExpiration", &o.DeadLetterOnExpiration),
		span("DuplicateDetectionHistoryTimeWindow", &o.DuplicateWindow, defaultWindow),
		deliveries(&o.MaxDeliveryCount),
		inverse("EnableBatchedOperations", &o.NoBatching),
		shown("SizeInBytes", u.Size),
		shown("MessageCount", u.Counts.Total()),
		shown("IsAnonymousAccessible", false),
		shown("AuthorizationRules", newAuthorizationRules(o.AuthorizationRules)),
		status("Status", &o.Status),
		q.address("ForwardTo", &o.ForwardTo),
		metadata(&o.UserMetadata),
		shown("CreatedAt", stamp(u.Created)),
		shown("UpdatedAt", stamp(u.Updated)),
		shown("AccessedAt", stamp(u.Accessed)),
		shown("SupportOrdering", true),
		shown("CountDetails", counts(u.Counts)),
		span("AutoDeleteOnIdle", &o.AutoDeleteOnIdle, 0),
		q.partitioning(&o.Partitioning, "Queue"),
		shown("EntityAvailabilityStatus", "Available"),
		flag("EnableExpress", &o.Express),
		q.address("ForwardDeadLetteredMessagesTo", &o.ForwardDeadLettersTo),
		size("MaxMessageSizeInKilobytes", &o.MaxMessageSize, kilobyte, q.broker.MaxMessageSize()/kilobyte),
	}
}

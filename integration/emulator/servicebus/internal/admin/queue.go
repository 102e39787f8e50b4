package admin

import (
	"errors"
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
	q.writeFeed("$Resources/Queues", "Queues", len(queues), func(i int) entry { return q.queueEntry(queues[i]) })
}

// putQueue makes or changes a queue.
func (q *query) putQueue(name string, d *queueDescription) {
	var options broker.QueueOptions
	if q.updating() {
		info, err := q.broker.Queue(name)
		if q.failed(err) || q.failed(checkPartitioning(info.Options.Partitioning, d.EnablePartitioning, "Queue")) {
			return
		}
		options = info.Options
	}
	if q.failed(d.apply(&options)) {
		return
	}
	put := q.broker.CreateQueue
	if q.updating() {
		put = q.broker.UpdateQueue
	}
	info, err := put(name, options)
	if q.failed(err) {
		return
	}
	writeEntry(q.w, q.status(), q.queueEntry(info))
}

// apply changes options to what the description says.
func (d *queueDescription) apply(o *broker.QueueOptions) error {
	set(&o.MaxDeliveryCount, d.MaxDeliveryCount)
	set(&o.RequiresSession, d.RequiresSession)
	set(&o.DeadLetterOnExpiration, d.DeadLetteringOnMessageExpiration)
	set(&o.DuplicateDetection, d.RequiresDuplicateDetection)
	setText(&o.UserMetadata, d.UserMetadata)
	setRules(&o.AuthorizationRules, d.AuthorizationRules)
	set(&o.Partitioning, d.EnablePartitioning)
	set(&o.Express, d.EnableExpress)
	if d.EnableBatchedOperations != nil {
		o.NoBatching = !*d.EnableBatchedOperations
	}
	setAddress(&o.ForwardTo, d.ForwardTo)
	setAddress(&o.ForwardDeadLettersTo, d.ForwardDeadLetteredMessagesTo)
	setSize(&o.MaxSize, d.MaxSizeInMegabytes, megabyte)
	setSize(&o.MaxMessageSize, d.MaxMessageSizeInKilobytes, kilobyte)
	return errors.Join(
		setDuration(&o.LockDuration, "LockDuration", d.LockDuration),
		setDuration(&o.DefaultTTL, "DefaultMessageTimeToLive", d.DefaultMessageTimeToLive),
		setDuration(&o.DuplicateWindow, "DuplicateDetectionHistoryTimeWindow", d.DuplicateDetectionHistoryTimeWindow),
		setDuration(&o.AutoDeleteOnIdle, "AutoDeleteOnIdle", d.AutoDeleteOnIdle),
		setStatus(&o.Status, d.Status),
	)
}

func (q *query) queueEntry(info broker.QueueInfo) entry {
	o, u := info.Options, info.Usage
	if o.MaxDeliveryCount == 0 {
		o.MaxDeliveryCount = defaultDeliveries
	}
	return q.newEntry(info.Name, info.Name, u.Created, u.Updated, content{Queue: &queueDescription{
		spaces:                              newSpaces(),
		LockDuration:                        durationText(o.LockDuration, defaultLock),
		MaxSizeInMegabytes:                  sizeText(o.MaxSize, megabyte, unlimitedMegabytes),
		RequiresDuplicateDetection:          &o.DuplicateDetection,
		RequiresSession:                     &o.RequiresSession,
		DefaultMessageTimeToLive:            durationText(o.DefaultTTL, 0),
		DeadLetteringOnMessageExpiration:    &o.DeadLetterOnExpiration,
		DuplicateDetectionHistoryTimeWindow: durationText(o.DuplicateWindow, defaultWindow),
		MaxDeliveryCount:                    &o.MaxDeliveryCount,
		EnableBatchedOperations:             new(!o.NoBatching),
		SizeInBytes:                         &u.Size,
		MessageCount:                        new(u.Counts.Total()),
		IsAnonymousAccessible:               new(false),
		AuthorizationRules:                  newAuthorizationRules(o.AuthorizationRules),
		Status:                              statusText(o.Status),
		ForwardTo:                           q.pathText(o.ForwardTo),
		UserMetadata:                        optionalText(o.UserMetadata),
		CreatedAt:                           stamp(u.Created),
		UpdatedAt:                           stamp(u.Updated),
		AccessedAt:                          stamp(u.Accessed),
		SupportOrdering:                     new(true),
		CountDetails:                        counts(u.Counts),
		AutoDeleteOnIdle:                    durationText(o.AutoDeleteOnIdle, 0),
		EnablePartitioning:                  &o.Partitioning,
		EntityAvailabilityStatus:            "Available",
		EnableExpress:                       &o.Express,
		ForwardDeadLetteredMessagesTo:       q.pathText(o.ForwardDeadLettersTo),
		MaxMessageSizeInKilobytes:           sizeText(o.MaxMessageSize, kilobyte, q.broker.MaxMessageSize()/kilobyte),
	}})
}

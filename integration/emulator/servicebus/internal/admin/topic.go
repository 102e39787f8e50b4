package admin

import (
	"errors"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
)

func (q *query) listTopics() {
	topics := q.broker.Topics()
	q.writeFeed("$Resources/Topics", "Topics", len(topics), func(i int) entry { return q.topicEntry(topics[i]) })
}

// putTopic makes or changes a topic.
func (q *query) putTopic(name string, d *topicDescription) {
	var options broker.TopicOptions
	if q.updating() {
		info, err := q.broker.Topic(name)
		if q.failed(err) || q.failed(checkPartitioning(info.Options.Partitioning, d.EnablePartitioning, "Topic")) {
			return
		}
		options = info.Options
	}
	if q.failed(d.apply(&options)) {
		return
	}
	put := q.broker.CreateTopic
	if q.updating() {
		put = q.broker.UpdateTopic
	}
	info, err := put(name, options)
	if q.failed(err) {
		return
	}
	writeEntry(q.w, q.status(), q.topicEntry(info))
}

// apply changes options to what the description says.
func (d *topicDescription) apply(o *broker.TopicOptions) error {
	set(&o.DuplicateDetection, d.RequiresDuplicateDetection)
	setText(&o.UserMetadata, d.UserMetadata)
	setRules(&o.AuthorizationRules, d.AuthorizationRules)
	set(&o.SupportOrdering, d.SupportOrdering)
	set(&o.Partitioning, d.EnablePartitioning)
	set(&o.Express, d.EnableExpress)
	if d.EnableBatchedOperations != nil {
		o.NoBatching = !*d.EnableBatchedOperations
	}
	setSize(&o.MaxSize, d.MaxSizeInMegabytes, megabyte)
	setSize(&o.MaxMessageSize, d.MaxMessageSizeInKilobytes, kilobyte)
	return errors.Join(
		setDuration(&o.DefaultTTL, "DefaultMessageTimeToLive", d.DefaultMessageTimeToLive),
		setDuration(&o.DuplicateWindow, "DuplicateDetectionHistoryTimeWindow", d.DuplicateDetectionHistoryTimeWindow),
		setDuration(&o.AutoDeleteOnIdle, "AutoDeleteOnIdle", d.AutoDeleteOnIdle),
		setStatus(&o.Status, d.Status),
	)
}

func (q *query) topicEntry(info broker.TopicInfo) entry {
	o, u := info.Options, info.Usage
	return q.newEntry(info.Name, info.Name, u.Created, u.Updated, content{Topic: &topicDescription{
		spaces:                              newSpaces(),
		DefaultMessageTimeToLive:            durationText(o.DefaultTTL, 0),
		MaxSizeInMegabytes:                  sizeText(o.MaxSize, megabyte, unlimitedMegabytes),
		RequiresDuplicateDetection:          &o.DuplicateDetection,
		DuplicateDetectionHistoryTimeWindow: durationText(o.DuplicateWindow, defaultWindow),
		EnableBatchedOperations:             new(!o.NoBatching),
		SizeInBytes:                         &u.Size,
		FilteringMessagesBeforePublishing:   new(false),
		IsAnonymousAccessible:               new(false),
		AuthorizationRules:                  newAuthorizationRules(o.AuthorizationRules),
		Status:                              statusText(o.Status),
		UserMetadata:                        optionalText(o.UserMetadata),
		CreatedAt:                           stamp(u.Created),
		UpdatedAt:                           stamp(u.Updated),
		AccessedAt:                          stamp(u.Accessed),
		SupportOrdering:                     &o.SupportOrdering,
		CountDetails:                        counts(u.Counts),
		SubscriptionCount:                   &info.Subscriptions,
		SQLFilterCount:                      &info.SQLFilters,
		CorrelationFilterCount:              &info.CorrelationFilters,
		AutoDeleteOnIdle:                    durationText(o.AutoDeleteOnIdle, 0),
		EnablePartitioning:                  &o.Partitioning,
		EntityAvailabilityStatus:            "Available",
		EnableExpress:                       &o.Express,
		MaxMessageSizeInKilobytes:           sizeText(o.MaxMessageSize, kilobyte, q.broker.MaxMessageSize()/kilobyte),
	}})
}

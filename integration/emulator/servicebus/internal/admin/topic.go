package admin

import "github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"

func (q *query) listTopics() {
	topics := q.broker.Topics()
	q.writeFeed("Topics", len(topics), func(i int) entry { return q.topicEntry(topics[i]) })
}

// putTopic makes or changes a topic.
func (q *query) putTopic(name string, d *description) (_ entry, err error) {
	var info broker.TopicInfo
	put := q.broker.CreateTopic
	if q.updating() {
		put = q.broker.UpdateTopic
		info, err = q.broker.Topic(name)
	}
	if err == nil {
		err = d.apply(q.topicMembers(&info))
	}
	if err == nil {
		setRules(&info.Options.AuthorizationRules, d.rules)
		info, err = put(name, info.Options)
	}
	return q.topicEntry(info), err
}

func (q *query) topicEntry(info broker.TopicInfo) entry {
	d := &description{members: q.topicMembers(&info)}
	return q.newEntry(info.Name, info.Name, info.Usage.Created, info.Usage.Updated, content{Topic: d})
}

func (q *query) topicMembers(info *broker.TopicInfo) []member {
	o, u := &info.Options, info.Usage
	return []member{
		span("DefaultMessageTimeToLive", &o.DefaultTTL, 0),
		size("MaxSizeInMegabytes", &o.MaxSize, megabyte, unlimitedMegabytes),
		flag("RequiresDuplicateDetection", &o.DuplicateDetection),
		span("DuplicateDetectionHistoryTimeWindow", &o.DuplicateWindow, defaultWindow),
		inverse("EnableBatchedOperations", &o.NoBatching),
		shown("SizeInBytes", u.Size),
		shown("FilteringMessagesBeforePublishing", false),
		shown("IsAnonymousAccessible", false),
		shown("AuthorizationRules", newAuthorizationRules(o.AuthorizationRules)),
		status("Status", &o.Status),
		metadata(&o.UserMetadata),
		shown("CreatedAt", stamp(u.Created)),
		shown("UpdatedAt", stamp(u.Updated)),
		shown("AccessedAt", stamp(u.Accessed)),
		flag("SupportOrdering", &o.SupportOrdering),
		shown("CountDetails", counts(u.Counts)),
		shown("SubscriptionCount", info.Subscriptions),
		shown("SqlFilterCount", info.SQLFilters),
		shown("CorrelationFilterCount", info.CorrelationFilters),
		span("AutoDeleteOnIdle", &o.AutoDeleteOnIdle, 0),
		q.partitioning(&o.Partitioning, "Topic"),
		shown("EntityAvailabilityStatus", "Available"),
		flag("EnableExpress", &o.Express),
		size("MaxMessageSizeInKilobytes", &o.MaxMessageSize, kilobyte, q.broker.MaxMessageSize()/kilobyte),
	}
}

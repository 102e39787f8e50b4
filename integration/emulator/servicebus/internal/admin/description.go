package admin

import (
	"fmt"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/duration"
)

// queueDescription is a queue. In a request, what is not there is nil.
type queueDescription struct {
	spaces

	LockDuration                        *string             `xml:"LockDuration"`
	MaxSizeInMegabytes                  *int64              `xml:"MaxSizeInMegabytes"`
	RequiresDuplicateDetection          *bool               `xml:"RequiresDuplicateDetection"`
	RequiresSession                     *bool               `xml:"RequiresSession"`
	DefaultMessageTimeToLive            *string             `xml:"DefaultMessageTimeToLive"`
	DeadLetteringOnMessageExpiration    *bool               `xml:"DeadLetteringOnMessageExpiration"`
	DuplicateDetectionHistoryTimeWindow *string             `xml:"DuplicateDetectionHistoryTimeWindow"`
	MaxDeliveryCount                    *int                `xml:"MaxDeliveryCount"`
	EnableBatchedOperations             *bool               `xml:"EnableBatchedOperations"`
	SizeInBytes                         *int64              `xml:"SizeInBytes"`
	MessageCount                        *int64              `xml:"MessageCount"`
	IsAnonymousAccessible               *bool               `xml:"IsAnonymousAccessible"`
	AuthorizationRules                  *authorizationRules `xml:"AuthorizationRules"`
	Status                              *string             `xml:"Status"`
	ForwardTo                           *string             `xml:"ForwardTo"`
	UserMetadata                        *string             `xml:"UserMetadata"`
	CreatedAt                           string              `xml:"CreatedAt,omitempty"`
	UpdatedAt                           string              `xml:"UpdatedAt,omitempty"`
	AccessedAt                          string              `xml:"AccessedAt,omitempty"`
	SupportOrdering                     *bool               `xml:"SupportOrdering"`
	CountDetails                        *countDetails       `xml:"CountDetails"`
	AutoDeleteOnIdle                    *string             `xml:"AutoDeleteOnIdle"`
	EnablePartitioning                  *bool               `xml:"EnablePartitioning"`
	EntityAvailabilityStatus            string              `xml:"EntityAvailabilityStatus,omitempty"`
	EnableExpress                       *bool               `xml:"EnableExpress"`
	ForwardDeadLetteredMessagesTo       *string             `xml:"ForwardDeadLetteredMessagesTo"`
	MaxMessageSizeInKilobytes           *int64              `xml:"MaxMessageSizeInKilobytes"`
}

// topicDescription is a topic.
type topicDescription struct {
	spaces

	DefaultMessageTimeToLive            *string             `xml:"DefaultMessageTimeToLive"`
	MaxSizeInMegabytes                  *int64              `xml:"MaxSizeInMegabytes"`
	RequiresDuplicateDetection          *bool               `xml:"RequiresDuplicateDetection"`
	DuplicateDetectionHistoryTimeWindow *string             `xml:"DuplicateDetectionHistoryTimeWindow"`
	EnableBatchedOperations             *bool               `xml:"EnableBatchedOperations"`
	SizeInBytes                         *int64              `xml:"SizeInBytes"`
	FilteringMessagesBeforePublishing   *bool               `xml:"FilteringMessagesBeforePublishing"`
	IsAnonymousAccessible               *bool               `xml:"IsAnonymousAccessible"`
	AuthorizationRules                  *authorizationRules `xml:"AuthorizationRules"`
	Status                              *string             `xml:"Status"`
	UserMetadata                        *string             `xml:"UserMetadata"`
	CreatedAt                           string              `xml:"CreatedAt,omitempty"`
	UpdatedAt                           string              `xml:"UpdatedAt,omitempty"`
	AccessedAt                          string              `xml:"AccessedAt,omitempty"`
	SupportOrdering                     *bool               `xml:"SupportOrdering"`
	CountDetails                        *countDetails       `xml:"CountDetails"`
	SubscriptionCount                   *int                `xml:"SubscriptionCount"`
	SQLFilterCount                      *int                `xml:"SqlFilterCount"`
	CorrelationFilterCount              *int                `xml:"CorrelationFilterCount"`
	AutoDeleteOnIdle                    *string             `xml:"AutoDeleteOnIdle"`
	EnablePartitioning                  *bool               `xml:"EnablePartitioning"`
	EntityAvailabilityStatus            string              `xml:"EntityAvailabilityStatus,omitempty"`
	EnableExpress                       *bool               `xml:"EnableExpress"`
	MaxMessageSizeInKilobytes           *int64              `xml:"MaxMessageSizeInKilobytes"`
}

// subscriptionDescription is a subscription.
type subscriptionDescription struct {
	spaces

	LockDuration                              *string          `xml:"LockDuration"`
	RequiresSession                           *bool            `xml:"RequiresSession"`
	DefaultMessageTimeToLive                  *string          `xml:"DefaultMessageTimeToLive"`
	DeadLetteringOnMessageExpiration          *bool            `xml:"DeadLetteringOnMessageExpiration"`
	DeadLetteringOnFilterEvaluationExceptions *bool            `xml:"DeadLetteringOnFilterEvaluationExceptions"`
	DefaultRuleDescription                    *ruleDescription `xml:"DefaultRuleDescription"`
	MessageCount                              *int64           `xml:"MessageCount"`
	MaxDeliveryCount                          *int             `xml:"MaxDeliveryCount"`
	EnableBatchedOperations                   *bool            `xml:"EnableBatchedOperations"`
	Status                                    *string          `xml:"Status"`
	ForwardTo                                 *string          `xml:"ForwardTo"`
	CreatedAt                                 string           `xml:"CreatedAt,omitempty"`
	UpdatedAt                                 string           `xml:"UpdatedAt,omitempty"`
	AccessedAt                                string           `xml:"AccessedAt,omitempty"`
	CountDetails                              *countDetails    `xml:"CountDetails"`
	UserMetadata                              *string          `xml:"UserMetadata"`
	ForwardDeadLetteredMessagesTo             *string          `xml:"ForwardDeadLetteredMessagesTo"`
	AutoDeleteOnIdle                          *string          `xml:"AutoDeleteOnIdle"`
	EntityAvailabilityStatus                  string           `xml:"EntityAvailabilityStatus,omitempty"`
}

type (
	// authorizationRules are kept and have no effect: keys are those of the emulator.
	authorizationRules struct {
		Rules []authorizationRule `xml:"AuthorizationRule"`
	}
	authorizationRule struct {
		typed

		ClaimType    string   `xml:"ClaimType"`
		ClaimValue   string   `xml:"ClaimValue"`
		Rights       []string `xml:"Rights>AccessRights"`
		KeyName      string   `xml:"KeyName"`
		PrimaryKey   string   `xml:"PrimaryKey"`
		SecondaryKey string   `xml:"SecondaryKey"`
	}
)

// setRules replaces the authorization rules, which a description leaves out when there are none.
func setRules(field *[]broker.AuthorizationRule, value *authorizationRules) {
	*field = nil
	if value == nil {
		return
	}
	for _, r := range value.Rules {
		*field = append(*field, broker.AuthorizationRule{
			Type: r.kind(), ClaimType: r.ClaimType, ClaimValue: r.ClaimValue, Rights: r.Rights, KeyName: r.KeyName,
			PrimaryKey: r.PrimaryKey, SecondaryKey: r.SecondaryKey,
		})
	}
}

func newAuthorizationRules(rules []broker.AuthorizationRule) *authorizationRules {
	a := &authorizationRules{}
	for _, r := range rules {
		a.Rules = append(a.Rules, authorizationRule{
			typed: typed{Write: r.Type}, ClaimType: r.ClaimType, ClaimValue: r.ClaimValue, Rights: r.Rights, KeyName: r.KeyName,
			PrimaryKey: r.PrimaryKey, SecondaryKey: r.SecondaryKey,
		})
	}
	return a
}

// set replaces a field that a description has.
func set[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}

// setDuration replaces a duration that a description has.
func setDuration(field *time.Duration, name string, value *string) error {
	if value == nil {
		return nil
	}
	length, err := duration.Parse(strings.TrimSpace(*value))
	if err != nil {
		return fmt.Errorf("%w: %s: %q is %w", errBadRequest, name, *value, err)
	}
	*field = length
	return nil
}

// checkPartitioning refuses to change what the service does not change either.
func checkPartitioning(is bool, value *bool, kind string) error {
	if value != nil && *value != is {
		return fmt.Errorf("%w: Partitioning cannot be changed for %s. ", errBadRequest, kind)
	}
	return nil
}

// setText replaces a text that a description leaves out when there is none.
func setText(field, value *string) {
	*field = ""
	set(field, value)
}

// setAddress replaces the name or address of another entity, as setText does, without the blanks of indented XML.
func setAddress(field, value *string) {
	setText(field, value)
	*field = strings.TrimSpace(*field)
}

// setSize replaces a size in bytes that a description has in larger units.
func setSize(field, value *int64, unit int64) {
	if value != nil && *value >= 0 && *value < 1<<40 {
		*field = *value * unit
	}
}

func setStatus(field *broker.Status, value *string) error {
	if value == nil || *value == "" {
		return nil
	}
	switch status := broker.Status(*value); status {
	case broker.Active, broker.Disabled, broker.SendDisabled, broker.ReceiveDisabled:
		*field = status
		return nil
	default:
		return fmt.Errorf("%w: Status: %q is unknown", errBadRequest, *value)
	}
}

func statusText(status broker.Status) *string {
	if status == "" {
		status = broker.Active
	}
	return new(string(status))
}

// durationText returns a duration, or what an entity has by default.
func durationText(d, byDefault time.Duration) *string {
	if d == 0 {
		d = byDefault
	}
	return new(duration.Format(d))
}

// pathText returns the address of another entity: as a client gave it, or that of a name. It is nil for none.
func (q *query) pathText(path string) *string {
	if path == "" {
		return nil
	}
	if strings.Contains(path, "://") {
		return &path
	}
	return new("https://" + q.host() + "/" + path)
}

func optionalText(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// The sizes that entities have for clients if they are not limited.
const (
	unlimitedMegabytes = 1024
	megabyte           = 1 << 20
	kilobyte           = 1 << 10
)

func sizeText(size, unit, byDefault int64) *int64 {
	if size == 0 {
		return &byDefault
	}
	return new(size / unit)
}

func counts(c broker.Counts) *countDetails {
	return &countDetails{
		Space: countSpace, Active: c.Active, DeadLetter: c.DeadLetter, Scheduled: c.Scheduled,
		Transfer: c.Transfer, TransferDeadLetter: c.TransferDeadLetter,
	}
}

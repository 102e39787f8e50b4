package wire

import (
	"encoding/xml"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	maxRules = 5
	maxCORS  = 2 << 10 // bytes of all rules together
)

var corsMethods = []string{"DELETE", "GET", "HEAD", "MERGE", "POST", "OPTIONS", "PUT", "PATCH", "CONNECT", "TRACE"}

// Properties are the settings of an account's queue service. Logging and metrics are kept and have no effect.
type Properties struct {
	Logging       Logging `json:"logging"`
	HourMetrics   Metrics `json:"hourMetrics"`
	MinuteMetrics Metrics `json:"minuteMetrics"`
	CORS          []Rule  `json:"cors,omitempty"`
}

// Logging selects the logged requests.
type Logging struct {
	Version   string    `json:"version"`
	Read      bool      `json:"read"`
	Write     bool      `json:"write"`
	Delete    bool      `json:"delete"`
	Retention Retention `json:"retention" xml:"RetentionPolicy"`
}

// Metrics selects the metrics.
type Metrics struct {
	Version     string    `json:"version"`
	Enabled     bool      `json:"enabled"`
	IncludeAPIs *bool     `json:"includeAPIs,omitempty" xml:",omitempty"`
	Retention   Retention `json:"retention"             xml:"RetentionPolicy"`
}

// Retention is for how many days logs or metrics are kept.
type Retention struct {
	Enabled bool `json:"enabled"`
	Days    int  `json:"days,omitempty" xml:",omitempty"`
}

// A Rule lets web pages of other origins in. Its lists are comma-separated.
type Rule struct {
	Methods        string `json:"methods"                  xml:"AllowedMethods"`
	Origins        string `json:"origins"                  xml:"AllowedOrigins"`
	AllowedHeaders string `json:"allowedHeaders,omitempty"`
	ExposedHeaders string `json:"exposedHeaders,omitempty"`
	MaxAge         int    `json:"maxAge"                   xml:"MaxAgeInSeconds"`
}

// DefaultProperties returns the default settings of an account.
func DefaultProperties() Properties {
	return Properties{Logging: Logging{Version: "1.0"}, HourMetrics: Metrics{Version: "1.0"}, MinuteMetrics: Metrics{Version: "1.0"}}
}

// ParseProperties reads settings over those that are in force: an omitted setting is unchanged.
func ParseProperties(body []byte, p Properties) (Properties, error) {
	root, err := parse(body, "StorageServiceProperties")
	if err != nil {
		return p, err
	}
	for _, n := range root.children {
		root.child(n.name) // there are not two
		switch n.name {
		case "Logging":
			p.Logging = n.logging()
		case "HourMetrics":
			p.HourMetrics = n.metrics()
		case "MinuteMetrics":
			p.MinuteMetrics = n.metrics()
		case "Cors":
			p.CORS = n.rules()
		case "DefaultServiceVersion": // of other services; clients send it to all
		default:
			n.fail(UnsupportedNode.With("XmlNodeName", n.name))
		}
	}
	return p, root.document.err
}

func (n *node) logging() Logging {
	n.only("Version", "Delete", "Read", "Write", "RetentionPolicy")
	return Logging{
		Version: n.version(), Delete: n.boolean("Delete"), Read: n.boolean("Read"), Write: n.boolean("Write"),
		Retention: n.retention(),
	}
}

func (n *node) metrics() Metrics {
	n.only("Version", "Enabled", "IncludeAPIs", "RetentionPolicy")
	m := Metrics{Version: n.version(), Enabled: n.boolean("Enabled")}
	if n.child("IncludeAPIs") != nil {
		m.IncludeAPIs = new(n.boolean("IncludeAPIs"))
	}
	m.Retention = n.retention()
	return m
}

func (n *node) retention() Retention {
	c := n.child("RetentionPolicy")
	if c == nil {
		return Retention{}
	}
	c.only("Enabled", "Days")
	if !c.boolean("Enabled") {
		return Retention{}
	}
	return Retention{Enabled: true, Days: c.number("Days", 1, 365)}
}

func (n *node) rules() []Rule {
	n.only("CorsRule")
	if len(n.children) > maxRules {
		n.fail(InvalidXML.With("Reason", "there are up to five CORS rules"))
	}
	var rules []Rule
	length := 0
	for _, c := range n.children {
		rule := c.rule()
		length += len(rule.Origins) + len(rule.Methods) + len(rule.AllowedHeaders) + len(rule.ExposedHeaders)
		if length > maxCORS {
			n.fail(InvalidXML.With("Reason", "the CORS rules have more than 2 KiB"))
		}
		rules = append(rules, rule)
	}
	return rules
}

func (n *node) rule() Rule {
	n.only("AllowedOrigins", "AllowedMethods", "AllowedHeaders", "ExposedHeaders", "MaxAgeInSeconds")
	r := Rule{Origins: n.required("AllowedOrigins"), Methods: n.required("AllowedMethods")}
	for method := range strings.SplitSeq(r.Methods, ",") {
		if !slices.Contains(corsMethods, strings.TrimSpace(method)) {
			n.invalid("AllowedMethods", r.Methods)
		}
	}
	r.AllowedHeaders, _ = n.value("AllowedHeaders")
	r.ExposedHeaders, _ = n.value("ExposedHeaders")
	r.MaxAge = n.number("MaxAgeInSeconds", 0, 1<<31-1)
	return r
}

// required returns the text of the only child of a name, which must not be empty.
func (n *node) required(name string) string {
	text, ok := n.value(name)
	switch {
	case !ok:
		n.fail(MissingNode.With("XmlNodeName", name))
	case strings.TrimSpace(text) == "":
		n.invalid(name, text)
	}
	return text
}

func (n *node) version() string {
	version, ok := n.value("Version")
	if !ok {
		return "1.0"
	}
	if version != "1.0" && version != "2.0" {
		n.invalid("Version", version)
	}
	return version
}

func (n *node) boolean(name string) bool {
	text := n.required(name)
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true", "1":
		return true
	case "false", "0":
		return false
	}
	n.invalid(name, text)
	return false
}

func (n *node) number(name string, low, high int) int {
	text := n.required(name)
	number, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || number < low || number > high {
		n.invalid(name, text)
	}
	return number
}

// Body is the settings as the service answers them.
func (p Properties) Body() []byte {
	type rules struct{ CorsRule []Rule }
	return body(struct {
		XMLName                    xml.Name `xml:"StorageServiceProperties"`
		Logging                    Logging
		HourMetrics, MinuteMetrics Metrics
		Cors                       rules
	}{Logging: p.Logging, HourMetrics: p.HourMetrics, MinuteMetrics: p.MinuteMetrics, Cors: rules{p.CORS}})
}

// Statistics returns the state of an account's secondary copy at a time.
func Statistics(synced time.Time) []byte {
	return body(struct {
		XMLName      xml.Name `xml:"StorageServiceStats"`
		Status       string   `xml:"GeoReplication>Status"`
		LastSyncTime string   `xml:"GeoReplication>LastSyncTime"`
	}{Status: "live", LastSyncTime: HTTPTime(synced)})
}

const (
	maxPolicies = 5
	maxPolicyID = 64
	permissions = "raup"
)

// A Policy is a stored access policy of a queue. A signature that refers to it must specify the fields it omits.
type Policy struct {
	ID         string    `json:"id"`
	Start      time.Time `json:"start,omitzero"`
	Expiry     time.Time `json:"expiry,omitzero"`
	Permission string    `json:"permission,omitempty"`
}

// ParsePolicies reads the access policies of a queue. An empty body has none.
func ParsePolicies(body []byte) ([]Policy, error) {
	if len(body) == 0 {
		return nil, nil
	}
	root, err := parse(body, "SignedIdentifiers")
	if err != nil {
		return nil, err
	}
	root.only("SignedIdentifier")
	if len(root.children) > maxPolicies {
		root.fail(InvalidXML.With("Reason", "a queue has up to five access policies"))
	}
	var policies []Policy
	for _, identifier := range root.children {
		policy := identifier.policy()
		if slices.ContainsFunc(policies, func(other Policy) bool { return other.ID == policy.ID }) {
			root.fail(InvalidNode.With("XmlNodeName", "Id").With("XmlNodeValue", policy.ID).
				With("Reason", "the identifier is not unique"))
		}
		policies = append(policies, policy)
	}
	if root.document.err != nil {
		return nil, root.document.err
	}
	return policies, nil
}

func (n *node) policy() Policy {
	n.only("Id", "AccessPolicy")
	id, _ := n.value("Id")
	switch {
	case id == "":
		n.fail(MissingNode.With("XmlNodeName", "Id"))
	case len(id) > maxPolicyID:
		n.fail(InvalidXML.With("Reason", "an identifier has up to 64 characters"))
	}
	access := n.child("AccessPolicy")
	if access == nil {
		return Policy{ID: id}
	}
	access.only("Start", "Expiry", "Permission")
	p := Policy{ID: id, Start: access.time("Start"), Expiry: access.time("Expiry")}
	p.Permission, _ = access.value("Permission")
	if strings.Trim(p.Permission, permissions) != "" {
		access.invalid("Permission", p.Permission)
	}
	return p
}

// time returns the time in the only child with a name, or zero.
func (n *node) time(name string) time.Time {
	text, _ := n.value(name)
	if text == "" {
		return time.Time{}
	}
	t, ok := ParseISOTime(text)
	if !ok {
		n.invalid(name, text)
	}
	return t
}

// Policies is the list of a queue's access policies.
func Policies(policies []Policy) []byte {
	type access struct {
		Start      string `xml:",omitempty"`
		Expiry     string `xml:",omitempty"`
		Permission string `xml:",omitempty"`
	}
	type identifier struct {
		ID           string `xml:"Id"`
		AccessPolicy access
	}
	list := struct {
		XMLName     xml.Name     `xml:"SignedIdentifiers"`
		Identifiers []identifier `xml:"SignedIdentifier"`
	}{}
	for _, p := range policies {
		of := access{OptionalISOTime(p.Start), OptionalISOTime(p.Expiry), p.Permission}
		list.Identifiers = append(list.Identifiers, identifier{p.ID, of})
	}
	return body(list)
}

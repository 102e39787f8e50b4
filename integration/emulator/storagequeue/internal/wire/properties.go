package wire

import (
	"bytes"
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

// Logging says which requests are logged.
type Logging struct {
	Version   string    `json:"version"`
	Delete    bool      `json:"delete"`
	Read      bool      `json:"read"`
	Write     bool      `json:"write"`
	Retention Retention `json:"retention"`
}

// Metrics says which metrics are kept.
type Metrics struct {
	Version     string    `json:"version"`
	Enabled     bool      `json:"enabled"`
	IncludeAPIs *bool     `json:"includeAPIs,omitempty"`
	Retention   Retention `json:"retention"`
}

// Retention is for how many days logs or metrics are kept.
type Retention struct {
	Enabled bool `json:"enabled"`
	Days    int  `json:"days,omitempty"`
}

// A Rule lets web pages of other origins in. Its lists are comma-separated.
type Rule struct {
	Origins        string `json:"origins"`
	Methods        string `json:"methods"`
	AllowedHeaders string `json:"allowedHeaders,omitempty"`
	ExposedHeaders string `json:"exposedHeaders,omitempty"`
	MaxAge         int    `json:"maxAge"` // seconds
}

// DefaultProperties are those of an account for which none were set.
func DefaultProperties() Properties {
	return Properties{Logging: Logging{Version: "1.0"}, HourMetrics: Metrics{Version: "1.0"}, MinuteMetrics: Metrics{Version: "1.0"}}
}

// ParseProperties reads settings over those that are in force: a setting that is left out stays.
func ParseProperties(body []byte, p Properties) (Properties, error) {
	root, err := parse(body, "StorageServiceProperties")
	if err != nil {
		return p, err
	}
	for _, n := range root.children {
		if _, err := root.child(n.name); err != nil { // there are two
			return p, err
		}
		switch n.name {
		case "Logging":
			p.Logging, err = n.logging()
		case "HourMetrics":
			p.HourMetrics, err = n.metrics()
		case "MinuteMetrics":
			p.MinuteMetrics, err = n.metrics()
		case "Cors":
			p.CORS, err = n.rules()
		case "DefaultServiceVersion": // of other services; clients send it to all
		default:
			err = UnsupportedNode.With("XmlNodeName", n.name)
		}
		if err != nil {
			return p, err
		}
	}
	return p, nil
}

func (n *node) logging() (Logging, error) {
	var l Logging
	err := n.only("Version", "Delete", "Read", "Write", "RetentionPolicy")
	if err == nil {
		l.Version, err = n.version()
	}
	for name, field := range map[string]*bool{"Delete": &l.Delete, "Read": &l.Read, "Write": &l.Write} {
		if err == nil {
			*field, err = n.boolean(name)
		}
	}
	if err == nil {
		l.Retention, err = n.retention()
	}
	return l, err
}

func (n *node) metrics() (Metrics, error) {
	var m Metrics
	err := n.only("Version", "Enabled", "IncludeAPIs", "RetentionPolicy")
	if err == nil {
		m.Version, err = n.version()
	}
	if err == nil {
		m.Enabled, err = n.boolean("Enabled")
	}
	if include, _ := n.child("IncludeAPIs"); err == nil && include != nil {
		var value bool
		value, err = n.boolean("IncludeAPIs")
		m.IncludeAPIs = &value
	}
	if err == nil {
		m.Retention, err = n.retention()
	}
	return m, err
}

func (n *node) retention() (Retention, error) {
	c, err := n.child("RetentionPolicy")
	if c == nil || err != nil {
		return Retention{}, err
	}
	if err := c.only("Enabled", "Days"); err != nil {
		return Retention{}, err
	}
	enabled, err := c.boolean("Enabled")
	if err != nil || !enabled {
		return Retention{}, err
	}
	days, err := c.number("Days", 1, 365)
	return Retention{Enabled: true, Days: days}, err
}

func (n *node) rules() ([]Rule, error) {
	if err := n.only("CorsRule"); err != nil {
		return nil, err
	}
	if len(n.children) > maxRules {
		return nil, InvalidXML.With("Reason", "there are up to five CORS rules")
	}
	var rules []Rule
	length := 0
	for _, c := range n.children {
		rule, err := c.rule()
		if err != nil {
			return nil, err
		}
		length += len(rule.Origins) + len(rule.Methods) + len(rule.AllowedHeaders) + len(rule.ExposedHeaders)
		if length > maxCORS {
			return nil, InvalidXML.With("Reason", "the CORS rules have more than 2 KiB")
		}
		rules = append(rules, rule)
	}
	return rules, nil
}

func (n *node) rule() (Rule, error) {
	var r Rule
	if err := n.only("AllowedOrigins", "AllowedMethods", "AllowedHeaders", "ExposedHeaders", "MaxAgeInSeconds"); err != nil {
		return r, err
	}
	var err error
	if r.Origins, err = n.required("AllowedOrigins"); err != nil {
		return r, err
	}
	if r.Methods, err = n.required("AllowedMethods"); err != nil {
		return r, err
	}
	for method := range strings.SplitSeq(r.Methods, ",") {
		if !slices.Contains(corsMethods, strings.TrimSpace(method)) {
			return r, InvalidNode.With("XmlNodeName", "AllowedMethods").With("XmlNodeValue", r.Methods)
		}
	}
	if r.AllowedHeaders, _, err = n.value("AllowedHeaders"); err != nil {
		return r, err
	}
	if r.ExposedHeaders, _, err = n.value("ExposedHeaders"); err != nil {
		return r, err
	}
	r.MaxAge, err = n.number("MaxAgeInSeconds", 0, 1<<31-1)
	return r, err
}

// required returns the text of the only child of a name, which must not be empty.
func (n *node) required(name string) (string, error) {
	text, ok, err := n.value(name)
	switch {
	case err != nil:
		return "", err
	case !ok:
		return "", MissingNode.With("XmlNodeName", name)
	case strings.TrimSpace(text) == "":
		return "", InvalidNode.With("XmlNodeName", name).With("XmlNodeValue", text)
	}
	return text, nil
}

func (n *node) version() (string, error) {
	version, ok, err := n.value("Version")
	switch {
	case err != nil:
		return "", err
	case !ok:
		return "1.0", nil
	case version != "1.0" && version != "2.0":
		return "", InvalidNode.With("XmlNodeName", "Version").With("XmlNodeValue", version)
	}
	return version, nil
}

func (n *node) boolean(name string) (bool, error) {
	text, err := n.required(name)
	if err != nil {
		return false, err
	}
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true", "1":
		return true, nil
	case "false", "0":
		return false, nil
	}
	return false, InvalidNode.With("XmlNodeName", name).With("XmlNodeValue", text)
}

func (n *node) number(name string, low, high int) (int, error) {
	text, err := n.required(name)
	if err != nil {
		return 0, err
	}
	number, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || number < low || number > high {
		return 0, InvalidNode.With("XmlNodeName", name).With("XmlNodeValue", text)
	}
	return number, nil
}

// Body is the settings as the service answers them.
func (p Properties) Body() []byte {
	var b bytes.Buffer
	b.WriteString(declaration)
	b.WriteString("<StorageServiceProperties><Logging>")
	element(&b, "Version", p.Logging.Version)
	element(&b, "Read", strconv.FormatBool(p.Logging.Read))
	element(&b, "Write", strconv.FormatBool(p.Logging.Write))
	element(&b, "Delete", strconv.FormatBool(p.Logging.Delete))
	p.Logging.Retention.write(&b)
	b.WriteString("</Logging>")
	p.HourMetrics.write(&b, "HourMetrics")
	p.MinuteMetrics.write(&b, "MinuteMetrics")
	b.WriteString("<Cors>")
	for _, rule := range p.CORS {
		b.WriteString("<CorsRule>")
		element(&b, "AllowedMethods", rule.Methods)
		element(&b, "AllowedOrigins", rule.Origins)
		element(&b, "AllowedHeaders", rule.AllowedHeaders)
		element(&b, "ExposedHeaders", rule.ExposedHeaders)
		element(&b, "MaxAgeInSeconds", strconv.Itoa(rule.MaxAge))
		b.WriteString("</CorsRule>")
	}
	b.WriteString("</Cors></StorageServiceProperties>")
	return b.Bytes()
}

func (m Metrics) write(b *bytes.Buffer, name string) {
	b.WriteString("<" + name + ">")
	element(b, "Version", m.Version)
	element(b, "Enabled", strconv.FormatBool(m.Enabled))
	if m.IncludeAPIs != nil {
		element(b, "IncludeAPIs", strconv.FormatBool(*m.IncludeAPIs))
	}
	m.Retention.write(b)
	b.WriteString("</" + name + ">")
}

func (r Retention) write(b *bytes.Buffer) {
	b.WriteString("<RetentionPolicy>")
	element(b, "Enabled", strconv.FormatBool(r.Enabled))
	if r.Enabled {
		element(b, "Days", strconv.Itoa(r.Days))
	}
	b.WriteString("</RetentionPolicy>")
}

// Statistics is the state of the copy of an account in a second place, as of a time.
func Statistics(synced time.Time) []byte {
	var b bytes.Buffer
	b.WriteString(declaration)
	b.WriteString("<StorageServiceStats><GeoReplication>")
	element(&b, "Status", "live")
	element(&b, "LastSyncTime", HTTPTime(synced))
	b.WriteString("</GeoReplication></StorageServiceStats>")
	return b.Bytes()
}

package hostile

// words are what a mutation puts in: the marks of the formats, and values at the edges of types.
var words = []string{
	"{", "}", "[", "]", ":", ",", `"`, "'", "\\", "&a", "*a", "<<: *a", "!!binary", "|", ">", "- ", "? ", "#", "\t", "\r", "\n", "\x00", "\xff",
	"null", "true", "~", "-1", "0", "9223372036854775808", "1e999", "-0.0", "NaN", "0x1F", "2262-04-12T00:00:00Z", "9999-12-31T23:59:59Z",
	"P1D", "PT0S", "PT999999H", "* * * * *", "@recur", "FREQ=SECONDLY;INTERVAL=1", "BYSETPOS=-1", "COUNT=1000000", "Europe/Berlin",
	"\u202e", "\ufeff", "\u0130", "%00", "%2e%2e", "../", "http://[::1", "Content-Length: 99999", "Transfer-Encoding: chunked", "HTTP/1.1",
}

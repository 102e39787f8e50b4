package payload_test

import (
	"testing"

	"github.com/carillon-sched/carillon/integration/testkit/must"
)

func BenchmarkRender(b *testing.B) {
	for _, bench := range []struct{ name, text string }{
		{"plain", `{"queueMessage":{"message":"{\"order\":4711}"}}`},
		{"template", `{"queueMessage":{"template":true,"message":"{\"from\":{{json .Previous}},\"to\":\"{{.Nominal.Format \"2006-01-02\"}}\"}"}}`},
		{"cloudevents", `{"queueMessage":{"envelope":"cloudevents","message":"{\"order\":4711}"}}`},
		{"cloudeventsBinary", `{"queueMessage":{"envelope":"cloudeventsBinary","message":"{\"order\":4711}"}}`},
		{"azureScheduler", `{"queueMessage":{"envelope":"azureScheduler","message":"{\"order\":4711}"}}`},
	} {
		b.Run(bench.name, func(b *testing.B) {
			c, a := mustRead(b, bench.text), attempt()
			b.ReportAllocs()
			for b.Loop() {
				must.Get(c.Render(a))(b)
			}
		})
	}
}

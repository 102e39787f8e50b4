module github.com/carillon-sched/carillon/integration/suite/sdk/golang/goamqp

go 1.26.0

require (
	github.com/Azure/go-amqp v1.7.0
	github.com/carillon-sched/carillon/integration/suite/sdk/golang/report v0.0.0
)

replace github.com/carillon-sched/carillon/integration/suite/sdk/golang/report => ../report

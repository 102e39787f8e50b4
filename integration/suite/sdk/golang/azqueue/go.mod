module github.com/carillon-sched/carillon/integration/suite/sdk/golang/azqueue

go 1.26.0

require (
	github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue v1.0.0
	github.com/carillon-sched/carillon/integration/suite/sdk/golang/report v0.0.0
)

require (
	github.com/Azure/azure-sdk-for-go/sdk/azcore v1.4.0 // indirect
	github.com/Azure/azure-sdk-for-go/sdk/internal v1.2.0 // indirect
	golang.org/x/net v0.8.0 // indirect
	golang.org/x/text v0.8.0 // indirect
)

replace github.com/carillon-sched/carillon/integration/suite/sdk/golang/report => ../report

module github.com/carillon-sched/carillon/integration/suite/sdk/golang/azservicebus

go 1.26.0

require (
	github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus v1.0.2
	github.com/carillon-sched/carillon/integration/suite/sdk/golang/report v0.0.0
)

require (
	github.com/Azure/azure-sdk-for-go/sdk/azcore v1.0.0 // indirect
	github.com/Azure/azure-sdk-for-go/sdk/internal v1.0.0 // indirect
	golang.org/x/net v0.0.0-20220425223048-2871e0cb64e4 // indirect
	golang.org/x/text v0.3.7 // indirect
)

replace github.com/carillon-sched/carillon/integration/suite/sdk/golang/report => ../report

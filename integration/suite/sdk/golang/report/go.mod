module github.com/carillon-sched/carillon/integration/suite/sdk/golang/report

go 1.26.0

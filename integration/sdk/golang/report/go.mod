module github.com/carillon-sched/carillon/integration/sdk/golang/report

go 1.26.0

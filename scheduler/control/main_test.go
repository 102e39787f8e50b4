package control_test

import (
	"testing"

	"github.com/carillon-sched/carillon/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

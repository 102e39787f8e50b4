package emulate

import (
	"context"

	"github.com/alecthomas/kong"

	"github.com/carillon-sched/carillon/cmd/carillon/listen"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/integration/emulator/queues"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
)

// console is the flag --console: where the pages are; "" is nowhere.
type console string

// defaultConsole is where they are unless the flag says so.
const defaultConsole = "127.0.0.1:8080"

// Decode takes the address, which may be left out.
func (c *console) Decode(ctx *kong.DecodeContext) error {
	*c = defaultConsole
	if ctx.Scan.Peek().Type != kong.FlagValueToken {
		return nil
	}
	var addr string
	if err := ctx.Scan.PopValueInto("ADDR", &addr); err != nil {
		return err
	}
	*c = console(addr)
	return nil
}

// IsBool says that the next word of the command line is not the address.
func (c *console) IsBool() bool { return true }

func (c *console) flag() listen.Flag { return listen.Flag{Name: "console", Addr: string(*c)} }

// check makes sure that the address can be meant.
func (c *console) check(ctx context.Context, insecure bool) error {
	if *c == "" {
		return nil
	}
	if err := listen.Check(c.flag()); err != nil || insecure {
		return err
	}
	return listen.RefuseExposed(ctx, c.flag())
}

// open serves the pages, if they are wanted.
func (c Command) open(ctx context.Context, t *terminal.Terminal, e *Servers) (*listen.Side, error) {
	if c.Console == "" {
		return nil, nil //nolint:nilnil // nothing is asked for, as usual
	}
	if exposed := listen.Exposed(ctx, c.Console.flag()); len(exposed) > 0 {
		t.Complain("warning", "other machines may reach "+listen.Names(exposed)+"; nothing there asks for a password")
	}
	pages := frame.New(frame.Config{
		Rooms:     []frame.Room{queues.Alone(e.Room("carillon emulate"))},
		AllowHost: listen.Hosts(ctx, string(c.Console), c.Hosts), Logger: c.Logger(t.Err), Unlocked: true, Version: t.Version,
		MaxLive: listen.SideConnections / 2, // other pages have their part
	})
	return listen.ServeAny(ctx, c.Console.flag(), "", pages, c.Logger(t.Err))
}

package main

import (
	"context"
	"fmt"
	"time"

	"holdpoint/store"
)

// figuresCmd holds what can be done with the running totals of the figures.
type figuresCmd struct {
	Check   figuresCheckCmd   `cmd:"" help:"Count all facts again and compare every running total with them. Changes nothing."`
	Rebuild figuresRebuildCmd `cmd:"" help:"Count the running totals anew from the facts. Pages stay exact meanwhile, and slower."`
}

type figuresCheckCmd struct{}

// Run compares, and ends with an error when a total is wrong.
func (figuresCheckCmd) Run(s *Settings) error {
	return s.withRecord(checkFigures)
}

func checkFigures(ctx context.Context, st *store.Store) error {
	c, err := st.CheckFigures(ctx)
	if err != nil {
		return err
	}
	if c.Until.IsZero() {
		fmt.Println("Nothing is counted ahead yet.")
		return nil
	}
	fmt.Printf("Compared %d running totals from %s to %s.\n", c.Rows, c.From.Format(time.RFC3339), c.Until.Format(time.RFC3339))
	for _, f := range c.Faults {
		fmt.Printf("Before %s, flow %s, destination %s, part %d, place %d: %d is stored, the facts give %d.\n", f.Until.Format(time.RFC3339), f.Flow, f.Destination, f.Part, f.Place, f.Stored, f.Counted)
	}
	if len(c.Faults) > 0 || c.Missed > 0 {
		return fmt.Errorf("running totals differ from the facts (%d settled cases among them); holdpoint figures rebuild counts them anew", c.Missed)
	}
	fmt.Println("Every one is what the facts give.")
	return nil
}

type figuresRebuildCmd struct{}

// Run counts everything anew.
func (figuresRebuildCmd) Run(s *Settings) error {
	return s.withRecord(rebuildFigures)
}

func rebuildFigures(ctx context.Context, st *store.Store) error {
	var facts int64
	p, err := st.RebuildFigures(ctx, func(p store.FigureProgress) {
		facts += p.Facts
		fmt.Printf("Counted until %s.\n", p.Until.Format(time.RFC3339))
	})
	if err != nil {
		return err
	}
	fmt.Printf("%d facts are counted, until %s.\n", facts, p.Until.Format(time.RFC3339))
	return nil
}

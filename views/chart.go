package views

import (
	"math"
	"strconv"
	"strings"
)

// ChartForm is how a chart shows its points.
type ChartForm string

// The forms: bars for counts and levels, a line for rates and durations.
const (
	ChartBars ChartForm = "bars"
	ChartLine ChartForm = "line"
)

// Chart is a drawing of a figure's steps. Its numbers stand beside it in words: in its
// title, and in a table on the figure's own page.
type Chart struct {
	ID     string // of its title in the page
	Form   ChartForm
	Points []ChartPoint
	// Limit is drawn as a dashed line; nil = there is none to compare steps with.
	Limit *float64
	Title string // what is drawn, of when
	Desc  string // lowest, highest and last in words
	Large bool
}

// ChartPoint is one step.
type ChartPoint struct {
	Value float64
	None  bool // nothing was measured
	Over  bool // beyond the limit
}

// The sizes of the drawing's own coordinates. Pages stretch it to its place.
const (
	chartWide, chartTall   = 236.0, 28.0
	chartLargeW, chartLong = 960.0, 240.0
)

func (c Chart) size() (w, h float64) {
	if c.Large {
		return chartLargeW, chartLong
	}
	return chartWide, chartTall
}

func (c Chart) viewBox() string {
	w, h := c.size()
	return "0 0 " + coord(w) + " " + coord(h)
}

// top is the highest value that the drawing holds.
func (c Chart) top() float64 {
	top := 0.0
	for _, p := range c.Points {
		if !p.None {
			top = math.Max(top, p.Value)
		}
	}
	if c.Limit != nil {
		top = math.Max(top, *c.Limit)
	}
	if top == 0 {
		return 1
	}
	return top
}

// y is a value's height in the drawing; a stroke's width stays free at both ends.
func (c Chart) y(v float64) float64 {
	_, h := c.size()
	return h - 1 - (h-3)*v/c.top()
}

// chartBar is one bar.
type chartBar struct {
	X, Y, Width, Height string
	Over                bool
}

// bars are the bars of what is not zero. Something is never so low that it cannot be seen.
func (c Chart) bars() []chartBar {
	w, h := c.size()
	var out []chartBar
	step := w / float64(max(len(c.Points), 1))
	for i, p := range c.Points {
		if p.None || p.Value == 0 {
			continue
		}
		y := math.Min(c.y(p.Value), h-3)
		out = append(out, chartBar{coord(float64(i)*step + step*0.12), coord(y), coord(step * 0.76), coord(h - 1 - y), p.Over})
	}
	return out
}

// chartLine is one stretch of a line, or a dot where a step stands alone.
type chartLine struct {
	Points string
	Over   bool
}

// lines are the stretches between steps in which something was measured. One that ends
// beyond the limit is marked.
func (c Chart) lines() []chartLine {
	var out []chartLine
	w, _ := c.size()
	step := w / float64(max(len(c.Points), 1))
	at := func(i int) string { return coord(float64(i)*step+step/2) + "," + coord(c.y(c.Points[i].Value)) }
	var run []string
	flush := func(over bool) {
		if len(run) == 1 { // a step that stands alone is as wide as itself
			x, y, _ := strings.Cut(run[0], ",")
			mid, _ := strconv.ParseFloat(x, 64)
			run = []string{coord(mid-step/3) + "," + y, coord(mid+step/3) + "," + y}
		}
		if len(run) > 0 {
			out = append(out, chartLine{strings.Join(run, " "), over})
		}
		run = nil
	}
	over := false
	for i, p := range c.Points {
		switch {
		case p.None:
			flush(over)
			over = false
			continue
		case len(run) > 0 && p.Over != over:
			last := run[len(run)-1]
			if len(run) > 1 {
				flush(over)
			}
			run = []string{last}
		}
		over = p.Over
		run = append(run, at(i))
	}
	flush(over)
	return out
}

// limitY is where the limit's line lies.
func (c Chart) limitY() string {
	_, h := c.size()
	return coord(math.Min(c.y(*c.Limit), h-1))
}

// coord writes a coordinate: two decimals are finer than any screen.
func coord(v float64) string {
	return strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64)
}

package bench

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// watchCPU starts watching the CPU and returns a function that tells which share of
// it other processes used since (0 to 1; 0 where /proc cannot be read).
func watchCPU() func() float64 {
	busy0, total0 := machineTicks()
	own0 := ownTicks()
	return func() float64 {
		busy, total := machineTicks()
		own := ownTicks()
		if total <= total0 {
			return 0
		}
		return max(0, ((busy-busy0)-(own-own0))/(total-total0))
	}
}

// ticksPerSecond is the unit of /proc on Linux.
const ticksPerSecond = 100

// machineTicks reads the machine's busy and total time from /proc/stat.
func machineTicks() (busy, total float64) {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, 0
	}
	line, _, _ := bytes.Cut(b, []byte("\n"))
	for i, f := range strings.Fields(string(line))[1:] {
		n, _ := strconv.ParseFloat(f, 64)
		if i < 8 { // guest time is inside user time
			total += n
		}
		if i < 8 && i != 3 && i != 4 {
			busy += n
		}
	}
	return busy, total
}

// ownTicks adds up the CPU time of this process and everything below it, the ended
// children included.
func ownTicks() float64 {
	dirs, _ := filepath.Glob("/proc/[0-9]*/stat")
	parent := map[int]int{}
	ticks := map[int]float64{}
	for _, d := range dirs {
		b, err := os.ReadFile(d)
		if err != nil {
			continue
		}
		_, rest, ok := strings.Cut(string(b), ") ")
		f := strings.Fields(rest)
		if !ok || len(f) < 15 {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(d)))
		parent[pid], _ = strconv.Atoi(f[1])
		for _, i := range []int{11, 12, 13, 14} { // utime, stime, cutime, cstime
			n, _ := strconv.ParseFloat(f[i], 64)
			ticks[pid] += n
		}
	}
	var sum float64
	for pid, n := range ticks {
		for p := pid; p > 1; p = parent[p] {
			if p == os.Getpid() {
				sum += n
				break
			}
		}
	}
	return sum
}

package kernel

import (
	"github.com/gcrun/gcrun/effects/guest"
)

// Limits bound one run of a program. A zero field means the default, a negative
// one no limit. Limits are inclusive: what is equal to the limit is allowed.
// (spec/limits.md)
type Limits struct {
	Steps      int64 // evaluation steps; default 1 000 000 000
	LiveUnits  int64 // units of 16 bytes alive; default 32 Mi (512 MiB)
	AllocUnits int64 // units allocated in all; default none
	PairCells  int64 // pairs made in all; default none
	VecLen     int64 // elements of one vector; default none
	MapLen     int64 // entries of one map; default none
	BytesLen   int64 // octets of one bytes value; default none
	StringLen  int64 // UTF-8 bytes of one string; default none
}

// Default limits.
const (
	DefaultSteps     = 1_000_000_000
	DefaultLiveUnits = 32 << 20
	maxIntLimbs      = 1 << 16 // 64-bit words of one integer: 4 Mi bits
	maxWork          = 1 << 62
)

// limitTable names every limit: the flag with "_", and the dimension.
var limitTable = []struct {
	name, dimension string
	field           func(*Limits) *int64
	preset          int64
}{
	{"max_alloc_units", "alloc-units", func(l *Limits) *int64 { return &l.AllocUnits }, -1},
	{"max_bytes_len", "bytes-len", func(l *Limits) *int64 { return &l.BytesLen }, -1},
	{"max_live_units", "live-units", func(l *Limits) *int64 { return &l.LiveUnits }, DefaultLiveUnits},
	{"max_map_len", "map-len", func(l *Limits) *int64 { return &l.MapLen }, -1},
	{"max_pair_cells", "pair-cells", func(l *Limits) *int64 { return &l.PairCells }, -1},
	{"max_string_len", "string-len", func(l *Limits) *int64 { return &l.StringLen }, -1},
	{"max_vec_len", "vec-len", func(l *Limits) *int64 { return &l.VecLen }, -1},
	{"step_limit", "steps", func(l *Limits) *int64 { return &l.Steps }, DefaultSteps},
}

// Named returns the limits by name, defaults filled in, unlimited ones absent:
// what a log's header holds.
func (l Limits) Named() map[string]int64 {
	out := make(map[string]int64)
	for _, row := range limitTable {
		v := *row.field(&l)
		if v == 0 {
			v = row.preset
		}
		if v >= 0 {
			out[row.name] = v
		}
	}
	return out
}

// LimitNames returns the names of all limits, sorted.
func LimitNames() []string {
	names := make([]string, len(limitTable))
	for i, row := range limitTable {
		names[i] = row.name
	}
	return names
}

// LimitsFromNames is the inverse of Named: a name that is absent means no
// limit. It reports false for a name it does not know.
func LimitsFromNames(m map[string]int64) (Limits, bool) {
	var l Limits
	known := 0
	for _, row := range limitTable {
		v, ok := m[row.name]
		if !ok || v < 0 {
			v = -1
		} else if v == 0 {
			// Zero means the default in a Limits; nothing can run with zero of
			// anything but steps or units, so the smallest real limit stands in.
			v = 1
		}
		if ok {
			known++
		}
		*row.field(&l) = v
	}
	return l, known == len(m)
}

// filled returns the limits with the largest number for "no limit".
func (l Limits) filled() Limits {
	for _, row := range limitTable {
		f := row.field(&l)
		if *f == 0 {
			*f = row.preset
		}
		if *f < 0 {
			*f = maxWork
		}
	}
	return l
}

// exhausted is the fatal end of a run that hit a limit.
func (m *Machine) exhausted(dimension string, observed, limit int64) {
	if m.fault != nil {
		return
	}
	m.fault = m.fatal("core/limit/"+dimension,
		"the run needs more "+limitNoun[dimension]+" than it may use",
		"raise it with --"+limitFlag[dimension]+", or change what the program does there")
	m.fault.(*guest.Fatal).Limit = &guest.Limit{Dimension: dimension, Observed: observed, Limit: limit}
}

var limitNoun = map[string]string{
	"steps": "evaluation steps", "live-units": "memory", "alloc-units": "memory in all",
	"pair-cells": "pairs", "vec-len": "elements in one vector", "map-len": "entries in one map",
	"bytes-len": "bytes in one value", "string-len": "bytes in one string", "int-limbs": "digits in one integer",
}

var limitFlag = map[string]string{
	"steps": "step-limit", "live-units": "max-live-units", "alloc-units": "max-alloc-units",
	"pair-cells": "max-pair-cells", "vec-len": "max-vec-len", "map-len": "max-map-len",
	"bytes-len": "max-bytes-len", "string-len": "max-string-len",
}

// alloc charges units of memory before they are used, counting what is alive
// when the rule says so. It reports false, with the fault set, when the run may
// not have them. (spec LIM-MEM-2)
func (m *Machine) alloc(units int64) bool {
	if m.room -= units; m.room >= 0 {
		return true
	}
	return m.allocMore(units)
}

// allocMore is alloc where something has to be looked at: a limit, a count, or
// whether anybody still waits for the run. Every loop charges for its calls, so
// it comes here now and then.
func (m *Machine) allocMore(units int64) bool {
	if m.call.Interrupted() {
		return false
	}
	allocated := m.allocated()
	if allocated > m.limits.AllocUnits {
		m.exhausted("alloc-units", allocated, m.limits.AllocUnits)
		return false
	}
	if (allocated-m.counted > m.nextCount || units > m.limits.LiveUnits-m.lastCount) && !m.count(units) {
		return false
	}
	m.grant()
	return true
}

// allocated is how many units were charged so far.
func (m *Machine) allocated() int64 { return m.granted - m.room }

// maxGrant is how many units may be charged before the context is looked at.
const maxGrant = 1 << 20

// grant sets how many units may be charged until alloc must look at limits again.
func (m *Machine) grant() {
	allocated := m.allocated()
	m.room = max(0, min(m.limits.AllocUnits-allocated, m.nextCount-(allocated-m.counted), m.limits.LiveUnits-m.lastCount, maxGrant))
	m.granted = allocated + m.room
}

// countAfter is how many units may be allocated until what is alive is counted
// again: seldom enough that counting stays a bounded share of the work, often
// enough that a run ends near its limit. (spec LIM-MEM-3)
func (m *Machine) countAfter() int64 {
	limit, last := m.limits.LiveUnits, m.lastCount
	return max(min(1<<20, max(limit, 1<<12)), min(last, max(limit-last, limit/8)))
}

// count walks what is alive. units, not yet allocated, must still fit.
func (m *Machine) count(units int64) bool {
	m.lastCount = m.liveUnits()
	m.counted = m.allocated() - units
	m.nextCount = m.countAfter()
	if m.lastCount+units > m.limits.LiveUnits {
		m.exhausted("live-units", m.lastCount+units, m.limits.LiveUnits)
		return false
	}
	return true
}

// work charges steps for work that grows with input, before it is done.
func (m *Machine) work(steps int64) bool {
	if m.steps += steps; m.steps > m.limits.Steps {
		m.steps = m.limits.Steps + 1
		m.exhausted("steps", m.steps, m.limits.Steps)
		return false
	}
	return true
}

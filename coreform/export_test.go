package coreform

// PrintLooks prints a term and returns its text and how many terms the printer
// looked at ahead.
func PrintLooks(v Value, lim Limits) ([]byte, int, error) {
	p := printer{output: output{lim: lim.withDefaults()}}
	err := p.terms([]Value{v}, false)
	return p.buf, p.looks, err
}

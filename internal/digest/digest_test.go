package digest_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/gcrun/gcrun/internal/digest"
)

// The first two are the published BLAKE3 test vectors for inputs of 0 and 1
// bytes (plain and derive-key mode with the published context string).
func TestPublishedVectors(t *testing.T) {
	const context = "BLAKE3 2019-12-27 16:29:52 test vectors context"
	domain := digest.NewDomain(context)
	for _, c := range []struct{ in, plain, derived string }{
		{"", "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262", "2cc39783c223154fea8dfb7c1b1660f2ac2dcbd1c1de8277b0b0dd39b7e50d7d"},
		{"\x00", "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213", "b3e2e340a117a499c6cf2398a19ee0d29cca2bb7404c73063382693bf66cb06c"},
	} {
		if got := digest.Sum([]byte(c.in)).String(); got != c.plain {
			t.Errorf("Sum(%q) = %s, want %s", c.in, got, c.plain)
		}
		if got := domain.Sum([]byte(c.in)).String(); got != c.derived {
			t.Errorf("Domain.Sum(%q) = %s, want %s", c.in, got, c.derived)
		}
	}
	if got := digest.CRC32C([]byte("123456789")); got != 0xE3069283 {
		t.Errorf("CRC32C check value = %08x", got)
	}
}

func TestPartsAreConcatenated(t *testing.T) {
	long := bytes.Repeat([]byte("abc"), 5000)
	want := digest.Sum(long)
	if got := digest.Sum(long[:1], long[1:7000], nil, long[7000:]); got != want {
		t.Errorf("parts: %s, whole: %s", got, want)
	}
	h := digest.NewHash()
	_, _ = h.Write(long[:9000])
	_, _ = h.WriteString(string(long[9000:]))
	for range 2 { // asking does not end it
		if h.Digest() != want {
			t.Error("running digest differs from one shot")
		}
	}
	h.Release()
	if again := digest.NewHash(); again.Digest() != digest.Sum() {
		t.Error("a hash given back keeps what was written")
	}
	d := digest.NewDomain("digest test")
	if d.Sum(long) == want {
		t.Error("a domain must not equal plain")
	}
	r := d.New()
	_, _ = r.Write(long)
	if r.Digest() != d.Sum(long[:5], long[5:]) {
		t.Error("domain: running differs from one shot")
	}
	r.Reset()
	if r.Digest() != d.Sum() {
		t.Error("Reset must keep the domain and forget the input")
	}
}

func TestParse(t *testing.T) {
	good := strings.Repeat("0a", 32)
	d, err := digest.Parse(good)
	if err != nil || d.String() != good || d.IsZero() {
		t.Fatalf("Parse(%q) = %v, %v", good, d, err)
	}
	for _, bad := range []string{"", good[1:], good + "0", strings.ToUpper(good), good[:63] + "g", good[:63] + "\n", "blake3:" + good} {
		if _, err := digest.Parse(bad); !errors.Is(err, digest.ErrSyntax) {
			t.Errorf("Parse(%q): %v", bad, err)
		}
	}
	if _, err := hex.DecodeString(good); err != nil {
		t.Fatal(err)
	}
}

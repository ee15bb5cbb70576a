package coreform

import (
	"encoding/binary"

	"github.com/gcrun/gcrun/internal/digest"
)

// hashPrefix begins the preimage of every GenesisCode v0.2 hash.
const hashPrefix = "GCv0.2\x00"

// errorSealID is the id of the ERROR token of GenesisCode.
const errorSealID = 3

// TermHash is the GCv0.2 hash of a term: BLAKE3 of the prefix and the term's
// canonical text, which is streamed. Errors are those of [WriteTerm]. Nothing
// is remembered: what is asked again and again is [StateHash]. (spec CF-HASH-1)
func TermHash(v Value) (digest.Digest, error) {
	h := digest.NewHash()
	defer h.Release()
	h.WriteString(hashPrefix)
	if err := WriteTerm(h, v); err != nil {
		return digest.Digest{}, err
	}
	return h.Digest(), nil
}

// ModuleHash is the GCv0.2 hash of a module, whose forms are canonical. Errors
// are those of [WriteTerm]. (spec CF-HASH-2)
func ModuleHash(forms []Value) (digest.Digest, error) {
	h := digest.NewHash()
	defer h.Release()
	h.WriteString(hashPrefix + "module\x00")
	if err := WriteModule(h, forms); err != nil {
		return digest.Digest{}, err
	}
	return h.Digest(), nil
}

// ValueHash is the GCv0.2 value hash of plain data, however it was made.
// Errors are those of [TermHash]. (spec CF-HASH-3)
func ValueHash(v Value) (digest.Digest, error) {
	th, err := TermHash(v)
	if err != nil {
		return digest.Digest{}, err
	}
	return digest.Sum([]byte(hashPrefix+"value\x00data\x00"), th[:]), nil
}

// ErrorValueHash is the GCv0.2 value hash of a sealed ERROR whose payload is
// plain data. Errors are those of [TermHash]. (spec CF-HASH-4)
func ErrorValueHash(payload Value) (digest.Digest, error) {
	vh, err := ValueHash(payload)
	if err != nil {
		return digest.Digest{}, err
	}
	id := binary.LittleEndian.AppendUint64(nil, errorSealID)
	return digest.Sum([]byte(hashPrefix+"value\x00sealed\x00"), id, vh[:]), nil
}

// RequestHash is the GCv0.2 hash of an effect request as logs have it: from the
// name of the op, the term hash of the payload and a hash that names the
// continuation. (spec CF-HASH-5)
func RequestHash(op string, payloadHash, contHash digest.Digest) digest.Digest {
	return digest.Sum([]byte(hashPrefix+"effect-req\x00"+op+"\x00"), payloadHash[:], contHash[:])
}

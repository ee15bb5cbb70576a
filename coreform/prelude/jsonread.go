package prelude

// jsonFault says why and where a text is not JSON that can be read: the last part
// of the code core/parse/…, and a byte offset.
type jsonFault struct {
	kind string
	at   int
}

// The events a jsonReader finds.
const (
	jsonNull = iota
	jsonTrue
	jsonFalse
	jsonNum
	jsonStr
	jsonName
	jsonBegin
	jsonEnd
	jsonDone
)

// jsonEvent is a value, a name, a bracket or the end of the text.
type jsonEvent struct {
	kind       int
	start, end int  // of the token in the text
	object     bool // of jsonBegin and jsonEnd
	size       int  // of a string or name: bytes without escapes
}

// jsonOpen is an array or object that has not ended.
type jsonOpen struct {
	object bool
	at     int // of its bracket
}

// What may come next.
const (
	wantValue      = iota // a value
	wantFirstValue        // a value or ]
	wantName              // a name
	wantFirstName         // a name or }
	wantMore              // , or the closing bracket
	wantEnd               // nothing
)

// jsonReader goes over a JSON text and checks it against the grammar of RFC 8259
// and the limits of depth and terms. It keeps a stack of its own and makes nothing
// of what it reads. (spec JSON-TEXT-1)
type jsonReader struct {
	jsonText
	open  []jsonOpen
	want  int
	terms int
}

// next returns what comes next in the text. After jsonDone or a fault it must not
// be called any more.
func (r *jsonReader) next() (jsonEvent, *jsonFault) {
	for {
		r.skipSpace()
		if r.pos == len(r.src) {
			return r.ended()
		}
		c := r.src[r.pos]
		switch {
		case r.want == wantMore && c == ',':
			r.pos++
			if r.want = wantValue; r.top().object {
				r.want = wantName
			}
		case r.want == wantMore, r.want == wantFirstValue && c == ']', r.want == wantFirstName && c == '}':
			return r.close(c)
		case r.want == wantValue, r.want == wantFirstValue:
			return r.value(c)
		case c == '"' && r.want != wantEnd:
			return r.name()
		default:
			return jsonEvent{}, &jsonFault{"unexpected", r.pos}
		}
	}
}

func (r *jsonReader) top() jsonOpen { return r.open[len(r.open)-1] }

// ended is what the end of the text means where it is.
func (r *jsonReader) ended() (jsonEvent, *jsonFault) {
	switch {
	case r.want == wantEnd:
		return jsonEvent{kind: jsonDone}, nil
	case len(r.open) > 0:
		return jsonEvent{}, &jsonFault{"unexpected", r.top().at}
	}
	return jsonEvent{}, &jsonFault{"eof", r.pos}
}

// term counts a value or name that begins here.
func (r *jsonReader) term() *jsonFault {
	if r.terms++; r.terms > jsonTerms {
		return &jsonFault{"size", r.pos}
	}
	return nil
}

// afterValue sets what may follow a value that is complete.
func (r *jsonReader) afterValue() {
	if r.want = wantEnd; len(r.open) > 0 {
		r.want = wantMore
	}
}

func (r *jsonReader) value(c byte) (e jsonEvent, fault *jsonFault) {
	if fault := r.term(); fault != nil {
		return e, fault
	}
	switch c {
	case '[', '{':
		return r.begin(c == '{')
	case '"':
		e, fault = r.str(jsonStr)
	case 'n':
		e, fault = r.literal("null", jsonNull)
	case 't':
		e, fault = r.literal("true", jsonTrue)
	case 'f':
		e, fault = r.literal("false", jsonFalse)
	default:
		e, fault = r.num()
	}
	r.afterValue()
	return e, fault
}

func (r *jsonReader) begin(object bool) (jsonEvent, *jsonFault) {
	if len(r.open) == jsonDepth {
		return jsonEvent{}, &jsonFault{"depth", r.pos}
	}
	r.open = append(r.open, jsonOpen{object, r.pos})
	if r.want = wantFirstValue; object {
		r.want = wantFirstName
	}
	r.pos++
	return jsonEvent{kind: jsonBegin, start: r.pos - 1, end: r.pos, object: object}, nil
}

func (r *jsonReader) close(c byte) (jsonEvent, *jsonFault) {
	object := r.top().object
	if object && c != '}' || !object && c != ']' {
		return jsonEvent{}, &jsonFault{"unexpected", r.pos}
	}
	r.open = r.open[:len(r.open)-1]
	r.pos++
	r.afterValue()
	return jsonEvent{kind: jsonEnd, start: r.pos - 1, end: r.pos, object: object}, nil
}

// name reads a name and the colon after it.
func (r *jsonReader) name() (e jsonEvent, fault *jsonFault) {
	if fault = r.term(); fault != nil {
		return e, fault
	}
	if e, fault = r.str(jsonName); fault != nil {
		return e, fault
	}
	r.skipSpace()
	if r.pos == len(r.src) {
		return r.ended()
	}
	if r.src[r.pos] != ':' {
		return e, &jsonFault{"unexpected", r.pos}
	}
	r.pos++
	r.want = wantValue
	return e, nil
}

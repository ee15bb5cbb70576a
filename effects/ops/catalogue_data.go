package ops

var dirKeys = []string{"dir", "label"}

func dbName(key, doc string) Field {
	return Field{Key: key, Types: []Type{TypeString}, Required: true, Doc: doc}
}

func sqlParams() Field {
	return Field{Key: ":params", Types: []Type{TypeVector}, Default: "[]", Doc: "values for the placeholders"}
}

func dbOp(name string, class Class, fields []Field, response, doc string, errors ...string) Op {
	return Op{
		Name: name, Class: class, Fields: fields, Response: response, Doc: doc,
		Errors:   append([]string{CodeDBDamaged, CodeDBBusy, CodePath, CodeIO}, errors...),
		Keys:     append([]string(nil), dirKeys...),
		Requires: []string{"dir"},
	}
}

// oneOf requires exactly one of the keys, given in term order.
func oneOf(op Op, keys ...string) Op {
	op.OneOf = keys
	return op
}

func kvKey() Field {
	return Field{Key: ":key", Types: []Type{TypeAny}, Required: true, Doc: "any term"}
}

func storeHash(types ...Type) []Field {
	return []Field{{Key: ":hash", Types: types, Required: true, Doc: "64 lower-case hexadecimal digits"}}
}

func storeOp(name string, class Class, fields []Field, response, doc string, errors ...string) Op {
	return Op{
		Name: "core/store::" + name, Class: class, Fields: fields, Response: response, Doc: doc,
		Errors: append([]string{CodeStoreCorruption, CodeIO}, errors...),
	}
}

var dataOps = []Op{
	dbOp("io/db::query", Pure, []Field{
		dbName(":db", "name of the database file"),
		{Key: ":sql", Types: []Type{TypeString}, Required: true, Doc: "one statement that changes nothing"},
		sqlParams(),
	}, "{:columns vector :rows vector}", "Asks a database.", CodeDBStatement),
	oneOf(dbOp("io/db::exec", Once, []Field{
		dbName(":db", "name of the database file"),
		{Key: ":sql", Types: []Type{TypeString}, Doc: "one statement"},
		sqlParams(),
		{Key: ":batch", Types: []Type{TypeVector}, Doc: "instead: vector of [sql params], done in one transaction"},
	}, "{:changes int}", "Changes a database: all of the request or nothing.", CodeDBStatement), ":batch", ":sql"),
	dbOp("io/kv::get", Pure, []Field{dbName(":store", "name of the store"), kvKey()},
		"the value, or {:found false}", "Looks up a key."),
	dbOp("io/kv::put", Repeatable, []Field{dbName(":store", "name of the store"), kvKey(),
		{Key: ":value", Types: []Type{TypeAny}, Required: true, Doc: "any term"}},
		"nil", "Binds a key to a value."),
	dbOp("io/kv::delete", Repeatable, []Field{dbName(":store", "name of the store"), kvKey()},
		"nil", "Removes a key. A missing one is fine."),
	dbOp("io/kv::scan", Pure, []Field{dbName(":store", "name of the store"),
		{Key: ":from", Types: []Type{TypeAny}, Doc: "first key to return"},
		{Key: ":to", Types: []Type{TypeAny}, Doc: "key before which to stop"},
		{Key: ":limit", Types: []Type{TypeInt}, Min: 1, Max: maxInt, Doc: "most entries to return"}},
		"vector of [key value] in key order, of one moment", "Lists entries of a store."),

	storeOp("put", Repeatable, []Field{{Key: ":artifact", Types: []Type{TypeAny}, Required: true,
		Doc: "bytes, or any term, which is kept as its canonical text"}},
		"{:hash string}", "Keeps something under the hash of its content.", CodeStoreTooLarge),
	storeOp("has", Pure, storeHash(TypeHash), "{:present bool}", "Says whether the store holds something intact."),
	storeOp("get", Pure, storeHash(TypeHash), "{:artifact term}", "Returns what was kept.",
		CodeStoreNotFound, CodeStoreBadArtifact),
	storeOp("verify", Pure, storeHash(TypeHash, TypeNil), "{:checked int :hash string :ok true}",
		"Checks one thing kept, or with nil all of them.", CodeStoreNotFound),
}

func algorithm() Field {
	return Field{Key: ":algorithm", Types: []Type{TypeString, TypeSymbol}, Required: true, Doc: "name of the algorithm"}
}

func keyID() Field {
	return Field{Key: ":key-id", Types: []Type{TypeString}, Required: true, Doc: "name the policy gave the key"}
}

func octets(key, doc string) Field {
	return Field{Key: key, Types: []Type{TypeBytes, TypeString}, Required: true, Doc: doc}
}

func cryptoOp(name string, keys []string, fields []Field, response, doc string) Op {
	return Op{
		Name: "core/crypto::" + name, Class: Pure, Fields: fields, Response: response, Doc: doc,
		Keys: keys, Requires: append([]string(nil), keys...),
	}
}

var cryptoOps = []Op{
	cryptoOp("hash", []string{"algorithms"}, []Field{algorithm(), octets(":data", "what to hash")},
		"bytes", "Hashes."),
	cryptoOp("sign", []string{"algorithms", "keys"}, []Field{algorithm(), keyID(), octets(":message", "what to sign")},
		"bytes", "Signs with a key the program never sees."),
	cryptoOp("verify", []string{"algorithms", "keys"}, []Field{algorithm(), keyID(), octets(":message", "what was signed"),
		{Key: ":signature", Types: []Type{TypeBytes}, Required: true, Doc: "the signature"}},
		"bool", "Checks a signature."),
}

package ops

var netOps = []Op{{
	Name: "io/net::http-request", Class: Once, DefaultTimeoutMs: 30_000,
	PureWhen: &Condition{Key: ":method", Values: []string{"GET", "HEAD"}},
	Fields: []Field{
		{Key: ":url", Types: []Type{TypeLine}, Required: true, Doc: "absolute http or https URL without user information"},
		{Key: ":method", Types: []Type{TypeMethod}, Required: true, Doc: "upper-case method"},
		{Key: ":headers", Types: []Type{TypeHeaders}, Default: "{}",
			Doc: "lower-case names to a string, a secret, or a vector of them"},
		{Key: ":query", Types: []Type{TypeQuery}, Doc: "names to a string, a secret, or a vector of them"},
		{Key: ":body", Types: []Type{TypeBytes, TypeString}, Doc: "body as it is; a string gives its UTF-8"},
		{Key: ":form", Types: []Type{TypeQuery}, Doc: "body as an encoded form"},
		{Key: ":json", Types: []Type{TypeAny}, Doc: "body as JSON; leaves may be secrets"},
		{Key: ":timeout-ms", Types: []Type{TypeInt}, Min: 1, Max: maxInt / 1_000_000,
			Doc: "shorter bound than the policy's, in milliseconds"},
	},
	AtMostOne: []string{":body", ":form", ":json"},
	Response:  "{:body bytes :headers map :hops vector :status int :url string}; header names lower-case",
	Errors:    []string{CodeNetHost, CodeNetAddress, CodeNetRedirect, CodeNetConnect, CodeNetTLS, CodeNetProtocol},
	Keys: []string{"hosts", "methods", "allow_http", "allow_private", "redirects", "ca_file",
		"redact_headers", "keep_headers"},
	Requires: []string{"hosts"},
	Doc:      "Sends one HTTP request to a host the policy names.",
}}

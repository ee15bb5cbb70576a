package ops

var sysOps = []Op{
	{
		Name: "sys/time::now", Class: Pure, Implemented: true,
		Response: "int: milliseconds since 1970-01-01T00:00:00Z",
		Doc:      "Reads the clock of the host.",
	},
	{
		Name: "sys/time::monotonic", Class: Pure,
		Response: "int: nanoseconds since the run started",
		Doc:      "Reads a clock that never goes back.",
	},
	{
		Name: "sys/time::sleep", Class: Pure, Implemented: true,
		Fields: []Field{{Key: ":ms", Types: []Type{TypeInt}, Required: true, Max: maxInt / 1_000_000,
			Doc: "milliseconds to wait"}},
		Response: "nil",
		Doc:      "Waits. A replay does not.",
	},
	{
		Name: "sys/random::bytes", Class: Pure, Implemented: true,
		Fields: []Field{{Key: ":len", Types: []Type{TypeInt}, Required: true, Max: maxInt,
			Doc: "how many bytes"}},
		Before:   []LimitBefore{{Key: ":len", Setting: "max_bytes"}},
		Response: "bytes of that length",
		Doc:      "Returns random bytes fit for keys.",
	},
	{
		Name: "sys/env::get", Class: Pure,
		Fields: []Field{{Key: ":name", Types: []Type{TypeEnvName}, Required: true,
			Doc: "name of the variable"}},
		Response: "string, or nil when the variable is not set",
		Keys:     []string{"names"}, Requires: []string{"names"},
		Doc: "Reads an environment variable that the policy names.",
	},
	{
		Name: "sys/args::list", Class: Pure, Implemented: true,
		Response: "vector of strings",
		Doc:      "Returns the arguments after -- on the command line.",
	},
	{
		Name: "io/console::write", Class: Repeatable, Implemented: true,
		Fields: []Field{
			{Key: ":stream", Types: []Type{TypeSymbol}, Required: true, Values: []string{":out", ":err"},
				Doc: "standard output or standard error"},
			data("what to write; a string gives its UTF-8"),
		},
		Response: "nil",
		Errors:   []string{CodeIO},
		Doc:      "Writes to the program's output.",
	},
	{
		Name: "io/console::read", Class: Once,
		Fields: []Field{{Key: ":max", Types: []Type{TypeInt}, Min: 1, Max: maxInt,
			Doc: "most bytes to return"}},
		Response: "bytes, at least one; nil at the end",
		Errors:   []string{CodeIO},
		Doc:      "Reads from the program's input.",
	},
	{
		Name: "sys/process::exec", Class: Once, DefaultTimeoutMs: 30_000,
		Fields: []Field{
			{Key: ":program", Types: []Type{TypeString}, Required: true, Doc: "name the policy gave the program"},
			{Key: ":args", Types: []Type{TypeStrings, TypeNil}, Default: "[]", Doc: "its arguments"},
			{Key: ":stdin", Types: []Type{TypeBytes, TypeString}, Default: `b""`, Doc: "what it reads"},
			{Key: ":env", Types: []Type{TypeEnv, TypeNil}, Default: "{}", Doc: "variables beside those of the policy"},
			{Key: ":cwd", Types: []Type{TypeString}, Doc: "directory it starts in, below that of the policy"},
		},
		Response: "{:exit int :stderr bytes :stdout bytes}",
		Errors:   []string{CodeProcessNotFound, CodeProcessArgs, CodeProcessChanged, CodeIO},
		Keys:     []string{"programs"}, Requires: []string{"programs"},
		Doc: "Runs a program that the policy names and waits for its end. What it does is not confined by gcrun.",
	},
}

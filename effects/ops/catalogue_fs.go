package ops

const maxInt = 1<<63 - 1

// fsKeys are the policy keys of every file operation, also where one has no
// effect, so that they can be moved between tables.
var fsKeys = []string{"base_dir", "create_dirs", "label", "paths"}

func path(doc string) Field {
	return Field{Key: ":path", Types: []Type{TypeString}, Required: true, Doc: doc}
}

func data(doc string) Field {
	return Field{Key: ":data", Types: []Type{TypeBytes, TypeString}, Required: true, Doc: doc}
}

func flag(key, def, doc string) Field {
	return Field{Key: key, Types: []Type{TypeBool}, Default: def, Doc: doc}
}

func fsOp(name string, class Class, implemented bool, fields []Field, response, doc string, more ...string) Op {
	return Op{
		Name: "io/fs::" + name, Class: class, Implemented: implemented, Fields: fields, Response: response, Doc: doc,
		Errors:   append([]string{CodePath, CodeIO, CodePathCollision, CodePathEncoding}, more...),
		Keys:     append([]string(nil), fsKeys...),
		Requires: []string{"base_dir"},
	}
}

func fromTo() []Field {
	return []Field{
		{Key: ":from", Types: []Type{TypeString}, Required: true, Doc: "path of what exists"},
		{Key: ":to", Types: []Type{TypeString}, Required: true, Doc: "path it gets"},
		flag(":overwrite", "false", "replace a file that is there"),
	}
}

var fsOps = []Op{
	fsOp("read", Pure, true, []Field{
		path("file to read"),
		{Key: ":offset", Types: []Type{TypeInt}, Max: maxInt, Default: "0", Doc: "first byte to return"},
		{Key: ":len", Types: []Type{TypeInt}, Max: maxInt, Doc: "most bytes to return; all that follow if absent"},
	}, "bytes; large ones stay outside memory until they are looked at",
		"Reads a regular file, or a range of it. A range beyond the end is shorter, or empty."),
	fsOp("write", Repeatable, true, []Field{
		path("file to write"),
		data("its whole new content; a string gives its UTF-8"),
		{Key: ":create", Types: []Type{TypeString}, Values: []string{"any", "new", "replace"}, Default: `"any"`,
			Doc: `"new" refuses an existing file, "replace" a missing one`},
	}, "nil", "Writes a file whole: readers see the old content or the new, never a part."),
	fsOp("append", Once, true, []Field{
		path("file to add to, made when missing"),
		data("what to add; a string gives its UTF-8"),
	}, "nil", "Adds to the end of a file."),
	fsOp("stat", Pure, true, []Field{path("what to look at")},
		"{:exists bool :kind symbol :len-bytes int :path string :readonly bool}; kind is file, dir, symlink, other or missing",
		"Says what a path leads to. Something missing is an answer, also when its parent is missing."),
	fsOp("list", Pure, true, []Field{
		path("directory to list"),
		flag(":recursive", "false", "go into directories, not following links"),
		flag(":skip-unencodable", "false", "leave out names no path can stand for instead of failing"),
	}, "vector of {:kind symbol :len-bytes int :name string :path string} sorted by :path",
		"Lists a directory."),
	fsOp("mkdir", Repeatable, false, []Field{
		path("directory to make"),
		flag(":parents", "true", "make missing parents, and accept a directory that is there"),
	}, "nil", "Makes a directory."),
	fsOp("remove", Repeatable, false, []Field{
		path("what to remove"),
		flag(":recursive", "false", "also a directory with all that is in it"),
	}, "nil", "Removes a file, a link itself, or a directory. Something missing is fine; the base directory is refused."),
	fsOp("rename", Once, false, fromTo(), "nil",
		"Moves a file, directory, or link itself. Needs the grants of what it does at both ends."),
	fsOp("copy", Repeatable, false, fromTo(), "nil",
		"Copies a regular file. Needs the grants of what it does at both ends."),
}

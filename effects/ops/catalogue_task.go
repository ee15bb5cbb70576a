package ops

func ident(key, doc string, required bool, more ...Type) Field {
	return Field{Key: key, Types: append([]Type{TypeString, TypeSymbol}, more...), Required: required, Doc: doc}
}

func taskOp(name string, class Class, fields []Field, response, doc string, errors ...string) Op {
	return Op{
		Name: "core/task::" + name, Class: class, Fields: fields, Response: response, Doc: doc,
		Errors: errors, Keys: []string{"allow_eval"},
	}
}

const taskStatus = "{:parent-task string-or-nil :state symbol :task-id string}"

var taskOps = []Op{
	taskOp("scope", Pure, []Field{ident(":scope", "name of the scope", false, TypeNil)},
		"{:scope string-or-nil :state :entered}", "Marks a scope in the log."),
	taskOp("spawn", Repeatable, []Field{
		{Key: ":payload", Types: []Type{TypeAny}, Doc: "the code of the task"},
		ident(":label", "name for people", false, TypeNil),
		ident(":parent-task", "task it belongs to", false, TypeNil),
		ident(":scope", "scope it belongs to", false, TypeNil),
	}, "{:state symbol :task-id string}", "Starts a task under the policy and limits of the run.",
		CodeTaskBudget, CodeTaskEval),
	taskOp("status", Pure, []Field{ident(":task-id", "the task", true)}, taskStatus, "Says how a task is doing.",
		CodeTaskNotFound),
	taskOp("cancel", Repeatable, []Field{ident(":task-id", "the task", true)}, taskStatus,
		"Stops a task at its next request. A once operation under way is waited for.", CodeTaskNotFound),
	taskOp("await", Pure, []Field{ident(":task-id", "the task", true)},
		"the status with :result and :error", "Waits for the end of a task.", CodeTaskNotFound),
	taskOp("channel-open", Repeatable, []Field{{Key: ":capacity", Types: []Type{TypeInt, TypeNil}, Max: maxInt,
		Doc: "most messages it holds; no bound if absent, nil or 0"}},
		"{:capacity int-or-nil :channel-id string :size 0 :state :open}", "Makes a channel.", CodeTaskBudget),
	taskOp("channel-send", Repeatable, []Field{ident(":channel-id", "the channel", true),
		{Key: ":value", Types: []Type{TypeAny}, Required: true, Doc: "the message, any term"}},
		"{:channel-id string :size int :state :open}", "Puts a message into a channel; never waits.",
		CodeTaskNotFound, CodeTaskChannelClosed, CodeTaskChannelFull),
	taskOp("channel-recv", Repeatable, []Field{ident(":channel-id", "the channel", true)},
		"{:channel-id string :has-value bool :size int :state symbol :value term}",
		"Takes the oldest message of a channel, if there is one; never waits.", CodeTaskNotFound),
	taskOp("channel-close", Repeatable, []Field{ident(":channel-id", "the channel", true)},
		"{:channel-id string :size int :state :closed}", "Closes a channel; what is in it can be taken.",
		CodeTaskNotFound),
	taskOp("channel-status", Pure, []Field{ident(":channel-id", "the channel", true)},
		"{:capacity int-or-nil :channel-id string :size int :state symbol}", "Says how a channel is doing.",
		CodeTaskNotFound),
}

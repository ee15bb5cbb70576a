package prelude

// NewLibrary makes another library, for measuring how long that takes.
var NewLibrary = newLibrary
